-- Transactions, the orders that rails get for them, and the money that arrives by itself.

-- A copy of the customer's state, narrow enough to be locked with every payment.
ALTER TABLE standings ADD COLUMN active boolean NOT NULL DEFAULT true;
UPDATE standings SET active = (SELECT state_id = 'ENABLED' FROM customers AS c
    WHERE c.tenant_id = standings.tenant_id AND c.id = standings.id);
ALTER TABLE standings ALTER COLUMN active DROP DEFAULT;

-- A tenant keeps money in suspense that nobody could place.
ALTER TABLE balances DROP CONSTRAINT balances_place_check;
ALTER TABLE balances ADD CONSTRAINT balances_place_check
    CHECK (place IN ('platform', 'outside', 'suspense'));

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
    CHECK (requirements = '{}' OR state_id = 'PROCESSING')
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
