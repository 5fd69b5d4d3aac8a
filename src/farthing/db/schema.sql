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
    created_at timestamptz NOT NULL,
    deleted_at timestamptz
);
CREATE INDEX tenants_by_id ON tenants (id) WHERE deleted_at IS NULL;

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
    -- The approval that it waits for, which has no place on the wire.
    approval_id uuid,
    PRIMARY KEY (tenant_id, id),
    CHECK (approval_id IS NULL OR state_id = 'PENDING')
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
    -- A copy of the customer's state, narrow enough to be locked with every payment.
    active boolean NOT NULL,
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
    place text NOT NULL CHECK (place IN ('platform', 'outside', 'suspense')),
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

-- A log: numbered without a gap within its tenant, in the order of the commits.
CREATE TABLE events (
    tenant_id uuid NOT NULL,
    type text NOT NULL,
    noun text NOT NULL,
    object_id uuid NOT NULL,
    object_version bigint NOT NULL,
    created_at timestamptz NOT NULL,
    -- What was said stays as it was said.
    data json NOT NULL,
    position bigint NOT NULL,
    UNIQUE (tenant_id, object_id, object_version),
    PRIMARY KEY (tenant_id, position)
);

-- The last position of each log; whoever adds to it holds the row until the commit. No event is
-- dated before the one that it follows: a time is found in the log by halving it.
CREATE TABLE event_heads (
    tenant_id uuid PRIMARY KEY,
    position bigint NOT NULL CHECK (position > 0),
    moved_at timestamptz NOT NULL,
    -- How many milliseconds the tenant's own clock is ahead; only a sandbox moves it. With that of
    -- a tenant that is deleted nobody can agree.
    ahead bigint NOT NULL DEFAULT 0 CHECK (ahead >= -1),
    -- What is at or before it was there before a reset, and need not be without a gap.
    floor bigint NOT NULL DEFAULT 0 CHECK (floor >= 0),
    -- How often the tenant's rules were changed: who is judged by older ones must decide anew.
    rules bigint NOT NULL DEFAULT 0 CHECK (rules >= 0)
) WITH (fillfactor = 50);
CREATE INDEX event_heads_by_ahead ON event_heads (tenant_id) WHERE ahead > 0;

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
GRANT SELECT, INSERT, UPDATE ON event_heads TO farthing_app;
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
    -- The approval that it waits for, which has no place on the wire.
    approval_id uuid,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, owner_id) REFERENCES customers,
    CHECK ((account_number IS NULL) = (sort_code IS NULL)),
    CHECK (bic IS NULL OR iban IS NOT NULL),
    CHECK (approval_id IS NULL OR state_id = 'PENDING')
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
CREATE INDEX cards_by_own_expiry ON cards (tenant_id, expires_at) WHERE state_id = 'ENABLED';

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
CREATE INDEX challenges_by_own_expiry ON challenges (tenant_id, expires_at) WHERE outcome IS NULL;

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

-- Transactions, the orders that rails get for them, and the money that arrives by itself.

CREATE TABLE transactions (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    state_id text NOT NULL CHECK (state_id IN
        ('PENDING', 'ACCEPTED', 'PROCESSING', 'HELD', 'EFFECTED', 'DISPUTED', 'ADJUSTED',
         'ERRORED', 'CANCELLED', 'FAILED')),
    tags jsonb NOT NULL CHECK (jsonb_typeof(tags) = 'array'),
    annotations jsonb NOT NULL CHECK (jsonb_typeof(annotations) = 'object'),
    flow text NOT NULL CHECK (flow IN ('INBOUND', 'OUTBOUND', 'INTERNAL')),
    method text NOT NULL CHECK (method IN ('card', 'bankAccount', 'transfer')),
    purpose text NOT NULL CHECK (purpose IN ('PURCHASE', 'TRANSFER', 'DEPOSIT', 'WITHDRAWAL')),
    amount bigint NOT NULL CHECK (amount > 0),
    currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    from_owner_id uuid NOT NULL,
    to_owner_id uuid NOT NULL,
    from_account_id uuid NOT NULL,
    to_account_id uuid NOT NULL,
    instrument_id uuid,
    description text CHECK (length(description) <= 140),
    group_id text,
    reference text,
    target_state_id text NOT NULL CHECK (target_state_id IN ('PENDING', 'HELD', 'EFFECTED')),
    requirements jsonb NOT NULL,
    adjustments jsonb NOT NULL CHECK (jsonb_typeof(adjustments) = 'array'),
    money text NOT NULL CHECK (money IN ('nowhere', 'reserved', 'withheld', 'complete')),
    settled boolean NOT NULL,
    adjusted bigint NOT NULL CHECK (adjusted >= 0),
    disputed bigint NOT NULL CHECK (disputed >= 0),
    order_id uuid,
    expires_at timestamptz,
    PRIMARY KEY (tenant_id, id),
    CHECK (from_account_id <> to_account_id),
    CHECK (adjusted + disputed <= amount),
    CHECK (requirements = '{}' OR state_id IN ('PENDING', 'PROCESSING'))
);
CREATE INDEX transactions_by_sender ON transactions (tenant_id, from_owner_id, id);
CREATE INDEX transactions_by_receiver ON transactions (tenant_id, to_owner_id, id);
CREATE INDEX transactions_by_group ON transactions (tenant_id, group_id, id)
    WHERE group_id IS NOT NULL;
CREATE INDEX transactions_by_reference ON transactions (tenant_id, reference, id)
    WHERE reference IS NOT NULL AND NOT settled;
-- Where the money of an arrival is, or of an order that ended too late.
CREATE INDEX transactions_by_arrival ON transactions (tenant_id, order_id)
    WHERE flow = 'INBOUND' AND method = 'bankAccount' AND order_id IS NOT NULL;
CREATE INDEX transactions_by_expiry ON transactions (expires_at)
    WHERE expires_at IS NOT NULL AND state_id IN ('PENDING', 'PROCESSING') AND NOT settled;
CREATE INDEX transactions_by_own_expiry ON transactions (tenant_id, expires_at)
    WHERE expires_at IS NOT NULL AND state_id IN ('PENDING', 'PROCESSING') AND NOT settled;
CREATE INDEX transactions_by_tag ON transactions
    USING gin (tags jsonb_path_ops) WHERE tags <> '[]';
CREATE INDEX transactions_by_annotation ON transactions
    USING gin (annotations jsonb_path_ops) WHERE annotations <> '{}';

-- What a rail was told, written before it is told.
CREATE TABLE orders (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    transaction_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('charge', 'payout', 'refund')),
    amount bigint NOT NULL CHECK (amount > 0),
    currency text NOT NULL,
    status text NOT NULL CHECK (status IN ('waiting', 'sent', 'pending', 'unknown', 'challenge',
        'approved', 'done', 'refused', 'recalled')),
    reason text NOT NULL,
    attempts bigint NOT NULL CHECK (attempts >= 0),
    due_at timestamptz,
    adjustment_id uuid,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX orders_by_due ON orders (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX orders_by_own_due ON orders (tenant_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX orders_by_transaction ON orders (tenant_id, transaction_id);

-- Money that came by itself, each once.
CREATE TABLE arrivals (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    currency text NOT NULL,
    reference text NOT NULL,
    payer text NOT NULL,
    transaction_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

GRANT SELECT, INSERT, UPDATE ON transactions, orders TO farthing_app;
-- Only to lock: an arrival never changes.
GRANT SELECT, INSERT, UPDATE ON arrivals TO farthing_app;

-- References: what payers put on bank transfers. The bare noun is a keyword of SQL.

CREATE TABLE payment_references (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    state_id text NOT NULL CHECK (state_id IN ('ENABLED', 'EXPIRED', 'CLOSED')),
    tags jsonb NOT NULL CHECK (jsonb_typeof(tags) = 'array'),
    annotations jsonb NOT NULL CHECK (jsonb_typeof(annotations) = 'object'),
    to_account_id uuid NOT NULL,
    owner_id uuid NOT NULL,
    from_customer_id uuid,
    currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    text text NOT NULL CHECK (text ~ '^RF[0-9]{2}[A-Z0-9]{14}$'),
    expires_at timestamptz NOT NULL,
    receiving_details jsonb NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, text),
    FOREIGN KEY (tenant_id, to_account_id) REFERENCES accounts,
    FOREIGN KEY (tenant_id, owner_id) REFERENCES customers,
    FOREIGN KEY (tenant_id, from_customer_id) REFERENCES customers
);
CREATE INDEX payment_references_by_owner ON payment_references (tenant_id, owner_id, id);
CREATE INDEX payment_references_by_account ON payment_references (tenant_id, to_account_id, id);
CREATE INDEX payment_references_by_payer ON payment_references
    (tenant_id, to_account_id, from_customer_id, id) WHERE state_id = 'ENABLED';
CREATE INDEX payment_references_by_tag ON payment_references
    USING gin (tags jsonb_path_ops) WHERE tags <> '[]';
CREATE INDEX payment_references_by_annotation ON payment_references
    USING gin (annotations jsonb_path_ops) WHERE annotations <> '{}';
CREATE INDEX payment_references_by_expiry ON payment_references (expires_at)
    WHERE state_id = 'ENABLED';
CREATE INDEX payment_references_by_own_expiry ON payment_references (tenant_id, expires_at)
    WHERE state_id = 'ENABLED';

GRANT SELECT, INSERT, UPDATE ON payment_references TO farthing_app;

-- What the sandbox's rail remembers. It plays the outside world, so nothing of ours refers to it.

CREATE TABLE sandbox_orders (
    tenant_id uuid NOT NULL REFERENCES tenants,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    -- Unknown for an order that was recalled before it was heard.
    kind text CHECK (kind IN ('charge', 'refund', 'payout')),
    amount bigint NOT NULL CHECK (amount > 0),
    currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    status text NOT NULL CHECK (status IN
        ('done', 'refused', 'challenge', 'pending', 'unknown', 'recalled')),
    reason text NOT NULL,
    refund_fate text CHECK (refund_fate IN ('done', 'refused')),
    refunded bigint NOT NULL CHECK (refunded BETWEEN 0 AND amount),
    paid_by uuid,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CHECK (kind IS NOT NULL OR status = 'recalled'),
    CHECK ((kind IS NOT DISTINCT FROM 'charge') = (refund_fate IS NOT NULL)),
    CHECK ((kind IS NOT DISTINCT FROM 'refund') = (paid_by IS NOT NULL))
);

CREATE TABLE sandbox_news (
    tenant_id uuid NOT NULL REFERENCES tenants,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    kind text NOT NULL CHECK (kind IN ('arrival', 'dispute', 'dispute_end')),
    due_at timestamptz NOT NULL,
    heard boolean NOT NULL,
    told jsonb NOT NULL CHECK (jsonb_typeof(told) = 'object'),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX sandbox_news_by_due ON sandbox_news (due_at, id) WHERE NOT heard;
CREATE INDEX sandbox_news_by_own_due ON sandbox_news (tenant_id, due_at, id) WHERE NOT heard;

GRANT SELECT, INSERT, UPDATE ON sandbox_orders, sandbox_news TO farthing_app;
GRANT DELETE ON sandbox_orders TO farthing_app;

-- How the sandbox's rail behaves towards a tenant for a while; without a row, as it always does.

CREATE TABLE sandbox_moods (
    tenant_id uuid NOT NULL REFERENCES tenants,
    -- The tenant's own, because it has one mood.
    id uuid NOT NULL CHECK (id = tenant_id),
    version bigint NOT NULL CHECK (version > 0),
    mood text NOT NULL CHECK (mood IN ('normal', 'slow', 'down', 'forgetful')),
    seconds bigint NOT NULL CHECK (seconds BETWEEN 0 AND 60),
    until timestamptz,
    requests bigint CHECK (requests >= 0),
    -- How many orders are still refused.
    refusals bigint CHECK (refusals > 0),
    PRIMARY KEY (tenant_id, id)
);

GRANT SELECT, INSERT, UPDATE ON sandbox_moods TO farthing_app;

-- Faults that the sandbox plays at a client's wish, for the next so many requests or deliveries.

CREATE TABLE sandbox_faults (
    tenant_id uuid NOT NULL REFERENCES tenants,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    kind text NOT NULL CHECK (kind IN
        ('rateLimited', 'unavailable', 'delay', 'cut',
         'duplicateDelivery', 'delayDelivery', 'reorderDelivery', 'dropDelivery')),
    remaining bigint NOT NULL CHECK (remaining > 0),
    milliseconds bigint CHECK (milliseconds > 0),
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, kind),
    CHECK ((kind IN ('delay', 'delayDelivery')) = (milliseconds IS NOT NULL))
);

GRANT SELECT, INSERT, UPDATE, DELETE ON sandbox_faults TO farthing_app;

-- Webhooks: where events are delivered, how far each has come, and what became of each delivery.

CREATE TABLE webhooks (
    tenant_id uuid NOT NULL REFERENCES tenants,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    state_id text NOT NULL CHECK (state_id IN ('ENABLED', 'FAILING', 'DISABLED', 'DELETED')),
    tags jsonb NOT NULL CHECK (jsonb_typeof(tags) = 'array'),
    annotations jsonb NOT NULL CHECK (jsonb_typeof(annotations) = 'object'),
    url text NOT NULL,
    events jsonb NOT NULL CHECK (jsonb_typeof(events) = 'array'),
    description text,
    -- Sealed under a key that is derived from the master key.
    secret bytea NOT NULL,
    old_secret bytea,
    old_secret_until timestamptz,
    PRIMARY KEY (tenant_id, id),
    CHECK ((old_secret IS NULL) = (old_secret_until IS NULL))
);
CREATE INDEX webhooks_that_are_active ON webhooks (tenant_id, id)
    WHERE state_id IN ('ENABLED', 'FAILING');

CREATE TABLE webhook_cursors (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    position bigint NOT NULL CHECK (position >= 0),
    deliveries bigint NOT NULL CHECK (deliveries >= 0),
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, id) REFERENCES webhooks
) WITH (fillfactor = 50);

-- One row for each tenant, so that two requests at once cannot pass the limit together.
CREATE TABLE webhook_tallies (
    tenant_id uuid NOT NULL REFERENCES tenants,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    webhooks bigint NOT NULL CHECK (webhooks >= 0),
    PRIMARY KEY (tenant_id, id)
);

CREATE TABLE deliveries (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    webhook_id uuid NOT NULL,
    number bigint NOT NULL CHECK (number > 0),
    position bigint NOT NULL CHECK (position > 0),
    type text NOT NULL,
    noun text NOT NULL,
    object_id uuid NOT NULL,
    status text NOT NULL CHECK (status IN ('waiting', 'delivered', 'failed')),
    attempts bigint NOT NULL CHECK (attempts >= 0),
    due_at timestamptz,
    tries jsonb NOT NULL CHECK (jsonb_typeof(tries) = 'array'),
    created_at timestamptz NOT NULL,
    -- By the machine's clock, unlike the others: the tenant's may be moved while it is under way.
    claimed_until timestamptz,
    ended_at timestamptz,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks,
    CHECK (status = 'waiting' OR due_at IS NULL),
    CHECK (claimed_until IS NULL OR (status = 'waiting' AND due_at IS NULL)),
    CHECK ((status = 'waiting') = (ended_at IS NULL))
) WITH (fillfactor = 80);
CREATE INDEX deliveries_by_webhook ON deliveries (tenant_id, webhook_id, id);
-- The line in which the deliveries of one object to one webhook stand.
CREATE INDEX deliveries_by_object ON deliveries (tenant_id, webhook_id, object_id, number)
    WHERE status = 'waiting';
-- Only what has a time, so that nobody looks for the line of an object here.
CREATE INDEX deliveries_by_due ON deliveries (tenant_id, webhook_id, due_at)
    WHERE status = 'waiting' AND due_at IS NOT NULL;
CREATE INDEX deliveries_by_claim ON deliveries (tenant_id, webhook_id, claimed_until)
    WHERE status = 'waiting' AND claimed_until IS NOT NULL;
CREATE INDEX deliveries_by_end ON deliveries (ended_at) WHERE ended_at IS NOT NULL;

GRANT SELECT, INSERT, UPDATE ON webhooks, webhook_cursors, webhook_tallies, deliveries
    TO farthing_app;
GRANT DELETE ON deliveries TO farthing_app;

-- Approvals: what rules let wait until somebody says yes or no.

CREATE TABLE approvals (
    tenant_id uuid NOT NULL REFERENCES tenants,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    state_id text NOT NULL CHECK (state_id IN ('PENDING', 'APPROVED', 'REJECTED', 'EXPIRED')),
    tags jsonb NOT NULL CHECK (jsonb_typeof(tags) = 'array'),
    annotations jsonb NOT NULL CHECK (jsonb_typeof(annotations) = 'object'),
    rule_id uuid NOT NULL,
    noun text NOT NULL CHECK (noun IN ('transaction', 'card', 'bank_account', 'customer')),
    object_id uuid NOT NULL,
    asked_by text NOT NULL CHECK (asked_by IN ('CUSTOMER', 'CLIENT', 'OPERATOR', 'PLATFORM')),
    asked_as text NOT NULL,
    four_eyes boolean NOT NULL,
    message text,
    expires_at timestamptz NOT NULL,
    decided_by text CHECK (decided_by IN ('CLIENT', 'OPERATOR')),
    reason text,
    PRIMARY KEY (tenant_id, id),
    CHECK ((decided_by IS NULL) = (state_id IN ('PENDING', 'EXPIRED')))
);
CREATE INDEX approvals_that_wait ON approvals (tenant_id, id) WHERE state_id = 'PENDING';
CREATE INDEX approvals_by_object ON approvals (tenant_id, object_id, id);
CREATE INDEX approvals_by_rule ON approvals (tenant_id, rule_id, id);
CREATE INDEX approvals_by_expiry ON approvals (expires_at) WHERE state_id = 'PENDING';
CREATE INDEX approvals_by_own_expiry ON approvals (tenant_id, expires_at)
    WHERE state_id = 'PENDING';

GRANT SELECT, INSERT, UPDATE ON approvals TO farthing_app;

-- Rules: what a tenant wants to happen to objects, said as expressions.
CREATE TABLE rules (
    tenant_id uuid NOT NULL REFERENCES tenants,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    state_id text NOT NULL CHECK (state_id IN ('ENABLED', 'DISABLED', 'DELETED')),
    tags jsonb NOT NULL CHECK (jsonb_typeof(tags) = 'array'),
    annotations jsonb NOT NULL CHECK (jsonb_typeof(annotations) = 'object'),
    name text NOT NULL,
    trigger text NOT NULL,
    expression text NOT NULL,
    actions jsonb NOT NULL CHECK (jsonb_typeof(actions) = 'array'),
    priority bigint NOT NULL,
    dry boolean NOT NULL,
    -- The version of the tenant's rules since which it has been as it is.
    since bigint NOT NULL CHECK (since > 0),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX rules_that_are_enabled ON rules (tenant_id) WHERE state_id = 'ENABLED';

CREATE TABLE alerts (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    state_id text NOT NULL CHECK (state_id = 'RAISED'),
    tags jsonb NOT NULL CHECK (jsonb_typeof(tags) = 'array'),
    annotations jsonb NOT NULL CHECK (jsonb_typeof(annotations) = 'object'),
    kind text NOT NULL CHECK (kind IN ('ALERT', 'DRY', 'FAILED')),
    rule_id uuid NOT NULL,
    noun text NOT NULL,
    object_id uuid NOT NULL,
    message text NOT NULL,
    -- A rule refused it, so that nothing of this name may be there.
    refused boolean NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, rule_id) REFERENCES rules
);
CREATE INDEX alerts_by_rule ON alerts (tenant_id, rule_id, id);

-- When a customer made one of something that is counted: how many there were then with it, and how
-- much that was in all. Whoever adds one holds an advisory lock.
CREATE TABLE tally_marks (
    tenant_id uuid NOT NULL,
    tally_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    count bigint NOT NULL CHECK (count > 0),
    total numeric NOT NULL CHECK (total >= 0),
    amount bigint NOT NULL CHECK (amount >= 0),
    PRIMARY KEY (tenant_id, tally_id, created_at, count)
);
-- For the janitor: it costs next to nothing, because marks come in the order of time.
CREATE INDEX tally_marks_by_time ON tally_marks USING brin (created_at);

-- Lets nobody else count in these tallies until the commit, and then says what each last mark says,
-- and which marks are the first after a moment: one question instead of four, and each of its
-- statements sees what was committed before it began. The first lock keeps out whoever would count
-- by what it remembers. Sums go as text, which is read faster than a number without a limit.
CREATE FUNCTION tallies_at(
    tenant uuid, keys uuid[], windowed uuid[], moments timestamptz[], most bigint
) RETURNS TABLE (place bigint, created_at timestamptz, count bigint, total text, amount bigint)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(uuid_hash_extended(tenant, 1));
    PERFORM pg_advisory_xact_lock(one)
    FROM (SELECT uuid_hash_extended(id, 0) AS one FROM unnest(keys) AS k (id) ORDER BY 1) AS locks;
    RETURN QUERY
        SELECT k.place - 1, m.created_at, m.count, m.total::text, m.amount
        FROM unnest(keys) WITH ORDINALITY AS k (id, place) CROSS JOIN LATERAL (
            SELECT t.* FROM farthing.tally_marks AS t
            WHERE t.tenant_id = tenant AND t.tally_id = k.id
            ORDER BY t.created_at DESC, t.count DESC LIMIT 1
        ) AS m;
    RETURN QUERY
        SELECT cardinality(keys) + w.place - 1, m.created_at, m.count, m.total::text, m.amount
        FROM unnest(windowed, moments) WITH ORDINALITY AS w (id, moment, place) CROSS JOIN LATERAL (
            SELECT t.* FROM farthing.tally_marks AS t
            WHERE t.tenant_id = tenant AND t.tally_id = w.id AND t.created_at > w.moment
            ORDER BY t.created_at, t.count LIMIT most
        ) AS m ORDER BY w.place, m.count;
END
$$;

GRANT SELECT, INSERT, UPDATE ON rules TO farthing_app;
GRANT SELECT, INSERT ON alerts TO farthing_app;
GRANT SELECT, INSERT, DELETE ON tally_marks TO farthing_app;

-- What a rule would have done to the transactions of a period.
CREATE TABLE backtests (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL CHECK (version > 0),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    state_id text NOT NULL CHECK (state_id IN ('RUNNING', 'DONE', 'FAILED', 'CANCELLED')),
    tags jsonb NOT NULL CHECK (jsonb_typeof(tags) = 'array'),
    annotations jsonb NOT NULL CHECK (jsonb_typeof(annotations) = 'object'),
    rule_id uuid NOT NULL,
    -- The rule as it was when somebody asked.
    expression text NOT NULL,
    actions jsonb NOT NULL CHECK (jsonb_typeof(actions) = 'array'),
    begin timestamptz NOT NULL,
    until timestamptz NOT NULL,
    total bigint CHECK (total >= 0),
    processed bigint NOT NULL CHECK (processed >= 0),
    matched bigint NOT NULL CHECK (matched >= 0),
    failed bigint NOT NULL CHECK (failed >= 0),
    outcomes jsonb NOT NULL CHECK (jsonb_typeof(outcomes) = 'object'),
    samples jsonb NOT NULL CHECK (jsonb_typeof(samples) = 'array'),
    -- Whoever runs it now, and when somebody else may.
    claim uuid,
    due_at timestamptz,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, rule_id) REFERENCES rules,
    CHECK (begin < until)
);
CREATE INDEX backtests_by_rule ON backtests (tenant_id, rule_id, id);
CREATE INDEX backtests_by_due ON backtests (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX backtests_by_own_due ON backtests (tenant_id, due_at) WHERE due_at IS NOT NULL;

GRANT SELECT, INSERT, UPDATE ON backtests TO farthing_app;

-- Tenants of a sandbox as they were.
CREATE TABLE snapshots (
    tenant_id uuid NOT NULL REFERENCES tenants,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    ahead bigint NOT NULL,
    -- The rows of each table.
    parts json NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
GRANT SELECT (tenant_id, id, created_at) ON snapshots TO farthing_app;

-- The only role that removes what is written for ever. Nothing in live takes it.
GRANT USAGE ON SCHEMA farthing TO farthing_keeper;
GRANT USAGE ON SCHEMA vault TO farthing_keeper;
GRANT SELECT, INSERT, DELETE ON ALL TABLES IN SCHEMA farthing TO farthing_keeper;
GRANT SELECT, INSERT, DELETE ON ALL TABLES IN SCHEMA vault TO farthing_keeper;
REVOKE INSERT, DELETE ON migrations, machine_steps, tenants, event_heads FROM farthing_keeper;
GRANT UPDATE ON tenants, event_heads TO farthing_keeper;
