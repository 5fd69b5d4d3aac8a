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
    PRIMARY KEY (tenant_id, id)
);

GRANT SELECT, INSERT, UPDATE ON sandbox_moods TO farthing_app;
