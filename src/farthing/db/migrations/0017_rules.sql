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
-- For the janitor: it costs next to nothing, because marks come in the order of time.
CREATE INDEX tally_marks_by_time ON tally_marks USING brin (created_at);

-- Lets nobody else count in these tallies until the commit, and then says what each last mark says,
-- and what was there before the first mark of each window: one question instead of three, and each
-- of its statements sees what was committed before it began.
CREATE FUNCTION tallies_at(
    tenant uuid, locks bigint[], keys uuid[], windowed uuid[], cutoffs timestamptz[]
) RETURNS TABLE (count bigint, total numeric, moved_at timestamptz) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(one) FROM unnest(locks) AS one;
    RETURN QUERY
        SELECT m.count, m.total, m.created_at
        FROM unnest(keys) WITH ORDINALITY AS k (id, place) LEFT JOIN LATERAL (
            SELECT t.count, t.total, t.created_at FROM farthing.tally_marks AS t
            WHERE t.tenant_id = tenant AND t.tally_id = k.id
            ORDER BY t.created_at DESC, t.count DESC LIMIT 1
        ) AS m ON true ORDER BY k.place;
    RETURN QUERY
        SELECT m.count - 1, m.total - m.amount, m.created_at
        FROM unnest(windowed, cutoffs) WITH ORDINALITY AS w (id, cutoff, place)
        LEFT JOIN LATERAL (
            SELECT t.count, t.total, t.amount, t.created_at FROM farthing.tally_marks AS t
            WHERE t.tenant_id = tenant AND t.tally_id = w.id AND t.created_at > w.cutoff
            ORDER BY t.created_at, t.count LIMIT 1
        ) AS m ON true ORDER BY w.place;
END
$$;

GRANT SELECT, INSERT, UPDATE ON rules TO farthing_app;
GRANT SELECT, INSERT ON alerts TO farthing_app;
GRANT SELECT, INSERT, DELETE ON tally_marks TO farthing_app;
GRANT SELECT, INSERT, DELETE ON rules, alerts, tally_marks TO farthing_keeper;
