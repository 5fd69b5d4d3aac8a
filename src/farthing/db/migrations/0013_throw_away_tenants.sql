-- Tenants that are thrown away: in a sandbox one is reset, kept as it is, put back, and deleted.

ALTER TABLE tenants ADD COLUMN deleted_at timestamptz;
CREATE INDEX tenants_by_id ON tenants (id) WHERE deleted_at IS NULL;

-- What is at or before the floor was there before a reset, and need not be without a gap.
ALTER TABLE event_heads ADD COLUMN floor bigint NOT NULL DEFAULT 0 CHECK (floor >= 0);
-- Nobody can agree with the clock of a tenant that is deleted.
ALTER TABLE event_heads DROP CONSTRAINT event_heads_ahead_check;
ALTER TABLE event_heads ADD CONSTRAINT event_heads_ahead_check CHECK (ahead >= -1);

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
