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

GRANT SELECT, INSERT, UPDATE ON sandbox_orders, sandbox_news TO farthing_app;
GRANT DELETE ON sandbox_orders TO farthing_app;
