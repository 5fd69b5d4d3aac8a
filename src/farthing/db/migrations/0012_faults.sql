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
