-- How often the rules of a tenant were changed: whoever is judged by older ones must decide anew.
ALTER TABLE event_heads ADD COLUMN rules bigint NOT NULL DEFAULT 0 CHECK (rules >= 0);

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

GRANT SELECT, INSERT, UPDATE ON rules TO farthing_app;
GRANT SELECT, INSERT ON alerts TO farthing_app;
GRANT SELECT, INSERT, DELETE ON tally_marks TO farthing_app;
GRANT SELECT, INSERT, DELETE ON rules, alerts, tally_marks TO farthing_keeper;
