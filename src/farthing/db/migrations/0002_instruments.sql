-- Bank accounts and cards, the challenges of cards, and the vault that keeps their numbers.

ALTER TABLE standings
    ADD COLUMN preferred_card_id uuid,
    ADD COLUMN preferred_bank_account_id uuid;

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
