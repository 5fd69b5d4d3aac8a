-- The whole schema as all migrations together leave it, for people to read.
-- A test compares it with the migrations.

CREATE SCHEMA farthing;
GRANT USAGE ON SCHEMA farthing TO farthing_app;

CREATE TABLE migrations (
    name text PRIMARY KEY,
    digest text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT ON migrations TO farthing_app;

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

-- What others keep about a customer: how many accounts are open, which generation of access tokens
-- is valid (counting it up revokes all tokens at once), and which instruments are preferred.
CREATE TABLE standings (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL,
    open_accounts bigint NOT NULL CHECK (open_accounts >= 0),
    token_generation bigint NOT NULL,
    preferred_card_id uuid,
    preferred_bank_account_id uuid,
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
    -- The time of the last entry; the next one is not dated before it.
    moved_at timestamptz,
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

GRANT SELECT, INSERT ON tenants, entries, history, events TO farthing_app;
GRANT SELECT ON machine_steps TO farthing_app;
GRANT SELECT, INSERT, UPDATE ON customers, standings, accounts, balances TO farthing_app;
GRANT SELECT, INSERT, DELETE ON credentials, idempotency TO farthing_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON heartbeats TO farthing_app;

CREATE TABLE bank_accounts (
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
    country text NOT NULL CHECK (country ~ '^[A-Z]{2}$'),
    account_number text CHECK (account_number ~ '^[0-9]{8}$'),
    sort_code text CHECK (sort_code ~ '^[0-9]{6}$'),
    iban text,
    bic text,
    billing_address jsonb NOT NULL,
    verified boolean NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, owner_id) REFERENCES customers,
    CHECK ((account_number IS NULL) = (sort_code IS NULL)),
    CHECK (bic IS NULL OR iban IS NOT NULL)
);
CREATE INDEX bank_accounts_by_owner ON bank_accounts (tenant_id, owner_id, id);
CREATE INDEX bank_accounts_by_tag ON bank_accounts
    USING gin (tags jsonb_path_ops) WHERE tags <> '[]';
CREATE INDEX bank_accounts_by_annotation ON bank_accounts
    USING gin (annotations jsonb_path_ops) WHERE annotations <> '{}';

CREATE TABLE cards (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    state_id text NOT NULL CHECK (state_id IN
        ('PENDING', 'PROCESSING', 'FAILED', 'ENABLED', 'INACTIVE', 'DISABLED', 'CLOSED')),
    tags jsonb NOT NULL CHECK (jsonb_typeof(tags) = 'array'),
    annotations jsonb NOT NULL CHECK (jsonb_typeof(annotations) = 'object'),
    owner_id uuid NOT NULL,
    suffix text NOT NULL CHECK (suffix ~ '^[0-9]{4}$'),
    expiry text NOT NULL CHECK (expiry ~ '^[0-9]{4}$'),
    expires_at timestamptz NOT NULL,
    scheme text NOT NULL CHECK (scheme IN ('VISA', 'MASTERCARD')),
    type text NOT NULL CHECK (type IN ('debit', 'credit', 'unknown')),
    storage_type text NOT NULL CHECK (storage_type IN ('CARD_ON_FILE', 'ONE_TIME_USE')),
    used boolean NOT NULL,
    billing_address jsonb NOT NULL,
    requirements jsonb NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, owner_id) REFERENCES customers,
    CHECK (requirements = '{}' OR state_id = 'PROCESSING')
);
CREATE INDEX cards_by_owner ON cards (tenant_id, owner_id, id);
CREATE INDEX cards_by_tag ON cards
    USING gin (tags jsonb_path_ops) WHERE tags <> '[]';
CREATE INDEX cards_by_annotation ON cards
    USING gin (annotations jsonb_path_ops) WHERE annotations <> '{}';
CREATE INDEX cards_by_expiry ON cards (expires_at) WHERE state_id = 'ENABLED';

ALTER TABLE standings
    ADD FOREIGN KEY (tenant_id, preferred_card_id) REFERENCES cards,
    ADD FOREIGN KEY (tenant_id, preferred_bank_account_id) REFERENCES bank_accounts;

-- Questions to a cardholder. The id is half of the digest of the link's secret.
CREATE TABLE challenges (
    tenant_id uuid NOT NULL REFERENCES tenants,
    id uuid NOT NULL,
    version bigint NOT NULL,
    noun text NOT NULL,
    object_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    outcome text CHECK (outcome IN ('approved', 'declined', 'expired')),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX challenges_by_expiry ON challenges (expires_at) WHERE outcome IS NULL;

GRANT SELECT, INSERT, UPDATE ON bank_accounts, cards, challenges TO farthing_app;

-- The vault. The application's role has no right here at all.
CREATE SCHEMA vault;

CREATE TABLE vault.keys (
    tenant_id uuid NOT NULL REFERENCES tenants,
    id uuid NOT NULL,
    version bigint NOT NULL,
    purpose text NOT NULL CHECK (purpose IN ('numbers', 'fingerprints')),
    wrapped bytea NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE TABLE vault.numbers (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL,
    key_id uuid NOT NULL,
    sealed bytea NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

-- Which cards have the same number. Nothing here tells which number, not even four digits of it.
CREATE TABLE vault.sightings (
    tenant_id uuid NOT NULL,
    fingerprint bytea NOT NULL,
    card_id uuid NOT NULL,
    owner_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, fingerprint, card_id)
);

GRANT USAGE ON SCHEMA vault TO farthing_vault;
GRANT SELECT, INSERT ON vault.keys, vault.sightings TO farthing_vault;
GRANT UPDATE ON vault.keys TO farthing_vault;
GRANT SELECT, INSERT, UPDATE, DELETE ON vault.numbers TO farthing_vault;
