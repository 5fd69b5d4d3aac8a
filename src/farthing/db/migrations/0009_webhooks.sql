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
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks,
    CHECK (status = 'waiting' OR due_at IS NULL)
) WITH (fillfactor = 80);
CREATE INDEX deliveries_by_webhook ON deliveries (tenant_id, webhook_id, id);
-- The line in which the deliveries of one object to one webhook stand.
CREATE INDEX deliveries_by_object ON deliveries (tenant_id, webhook_id, object_id, number)
    WHERE status = 'waiting';
CREATE INDEX deliveries_by_due ON deliveries (tenant_id, webhook_id, due_at)
    WHERE status = 'waiting';

GRANT SELECT, INSERT, UPDATE ON webhooks, webhook_cursors, webhook_tallies, deliveries
    TO farthing_app;
