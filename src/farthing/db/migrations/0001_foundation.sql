-- The foundation: who there is, what they hold, and what is written for ever.
-- The tenant comes first in every key, so that the same schema can be spread over a cluster.

CREATE TABLE tenants (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    created_at timestamptz NOT NULL
);

-- Which steps exist, from the machines in the code: history can hold no other.
CREATE TABLE machine_steps (
    machine text NOT NULL,
    source text NOT NULL,
    target text NOT NULL,
    PRIMARY KEY (machine, source, target)
);

CREATE TABLE customers (
    tenant_id uuid NOT NULL REFERENCES tenants,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    state_id text NOT NULL
        CHECK (state_id IN ('PENDING', 'ENABLED', 'DISABLED', 'LOCKED', 'CLOSING', 'TERMINATED')),
    tags jsonb NOT NULL CHECK (jsonb_typeof(tags) = 'array'),
    annotations jsonb NOT NULL CHECK (jsonb_typeof(annotations) = 'object'),
    type text NOT NULL
        CHECK (type IN ('INDIVIDUAL', 'SOLE_TRADER', 'ORGANISATION', 'INCORPORATED_BUSINESS')),
    name text,
    email text,
    phone text,
    address jsonb,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX customers_by_tag ON customers
    USING gin (tags jsonb_path_ops) WHERE tags <> '[]';
CREATE INDEX customers_by_annotation ON customers
    USING gin (annotations jsonb_path_ops) WHERE annotations <> '{}';

-- What others keep about a customer: how many accounts are open, and which generation of access
-- tokens is valid. Counting the generation up revokes all tokens at once.
CREATE TABLE standings (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL,
    open_accounts bigint NOT NULL CHECK (open_accounts >= 0),
    token_generation bigint NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, id) REFERENCES customers
) WITH (fillfactor = 50);

CREATE TABLE accounts (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    state_id text NOT NULL CHECK (state_id IN ('PENDING', 'ENABLED', 'DISABLED', 'CLOSED')),
    tags jsonb NOT NULL CHECK (jsonb_typeof(tags) = 'array'),
    annotations jsonb NOT NULL CHECK (jsonb_typeof(annotations) = 'object'),
    owner_id uuid NOT NULL,
    currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, owner_id) REFERENCES customers
);
CREATE INDEX accounts_by_owner ON accounts (tenant_id, owner_id, id);
CREATE INDEX accounts_by_tag ON accounts
    USING gin (tags jsonb_path_ops) WHERE tags <> '[]';
CREATE INDEX accounts_by_annotation ON accounts
    USING gin (annotations jsonb_path_ops) WHERE annotations <> '{}';

-- What an account holds, apart from what it is: these rows are narrow and change often.
-- The outside world has rows here too, so that all complete balances add up to zero.
CREATE TABLE balances (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version >= 0),
    currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    place text NOT NULL CHECK (place IN ('platform', 'outside')),
    complete bigint NOT NULL,
    incomplete_debits bigint NOT NULL CHECK (incomplete_debits >= 0),
    incomplete_credits bigint NOT NULL CHECK (incomplete_credits >= 0),
    disputed_debits bigint NOT NULL CHECK (disputed_debits >= 0),
    disputed_credits bigint NOT NULL CHECK (disputed_credits >= 0),
    withheld bigint NOT NULL CHECK (withheld >= 0),
    PRIMARY KEY (tenant_id, id)
) WITH (fillfactor = 50);

-- Every change of a balance, numbered without a gap within its account.
CREATE TABLE entries (
    tenant_id uuid NOT NULL,
    account_id uuid NOT NULL,
    number bigint NOT NULL CHECK (number > 0),
    posting_id uuid NOT NULL,
    subject_id uuid NOT NULL,
    effect text NOT NULL,
    complete bigint NOT NULL,
    incomplete_debits bigint NOT NULL,
    incomplete_credits bigint NOT NULL,
    disputed_debits bigint NOT NULL,
    disputed_credits bigint NOT NULL,
    withheld bigint NOT NULL,
    complete_after bigint NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, account_id, number),
    FOREIGN KEY (tenant_id, account_id) REFERENCES balances
);
CREATE INDEX entries_by_subject ON entries (tenant_id, subject_id);

CREATE TABLE history (
    tenant_id uuid NOT NULL,
    object_id uuid NOT NULL,
    version bigint NOT NULL,
    machine text NOT NULL,
    source text,
    target text NOT NULL,
    actor text NOT NULL CHECK (actor IN ('CUSTOMER', 'CLIENT', 'OPERATOR', 'PLATFORM')),
    principal text NOT NULL,
    reason text,
    request_id text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, object_id, version),
    FOREIGN KEY (machine, source, target) REFERENCES machine_steps
);

CREATE TABLE events (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    type text NOT NULL,
    noun text NOT NULL,
    object_id uuid NOT NULL,
    object_version bigint NOT NULL,
    created_at timestamptz NOT NULL,
    data jsonb NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, object_id, object_version)
);

-- The answers to requests that came with a key. Of the request only a keyed digest is kept.
CREATE TABLE idempotency (
    tenant_id uuid NOT NULL,
    scope text NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    status bigint NOT NULL,
    body bytea NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, scope, key)
);
CREATE INDEX idempotency_by_age ON idempotency (created_at);

-- Credentials are random, so a plain digest is enough; the credential itself is kept nowhere.
CREATE TABLE credentials (
    tenant_id uuid NOT NULL REFERENCES tenants,
    kind text NOT NULL CHECK (kind IN ('apiKey', 'operatorKey', 'accessToken')),
    digest bytea NOT NULL CHECK (length(digest) = 32),
    customer_id uuid,
    generation bigint,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    PRIMARY KEY (tenant_id, digest),
    FOREIGN KEY (tenant_id, customer_id) REFERENCES customers,
    CHECK ((kind = 'accessToken') = (customer_id IS NOT NULL)),
    CHECK ((kind = 'accessToken') = (generation IS NOT NULL)),
    CHECK ((kind = 'accessToken') = (expires_at IS NOT NULL))
);
CREATE INDEX credentials_by_expiry ON credentials (expires_at) WHERE expires_at IS NOT NULL;

-- The workers that are alive, for GET /v1/status.
CREATE TABLE heartbeats (
    process_id uuid PRIMARY KEY,
    seen_at timestamptz NOT NULL
);

INSERT INTO tenants (id, name, created_at)
VALUES ('00000000-0000-0000-0000-000000000000', 'the house itself', now());

GRANT SELECT, INSERT ON tenants, entries, history, events TO farthing_app;
GRANT SELECT ON machine_steps TO farthing_app;
GRANT SELECT, INSERT, UPDATE ON customers, standings, accounts, balances TO farthing_app;
GRANT SELECT, INSERT, DELETE ON credentials, idempotency TO farthing_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON heartbeats TO farthing_app;
