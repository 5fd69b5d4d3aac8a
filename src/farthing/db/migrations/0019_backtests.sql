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
GRANT SELECT, INSERT, DELETE ON backtests TO farthing_keeper;
