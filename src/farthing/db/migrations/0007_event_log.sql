-- Events are a log: numbered without a gap within their tenant, in the order of their commits.

CREATE TABLE event_heads (
    tenant_id uuid PRIMARY KEY,
    position bigint NOT NULL CHECK (position > 0)
) WITH (fillfactor = 50);

ALTER TABLE events ADD COLUMN position bigint;
UPDATE events AS e SET position = told.position
FROM (
    SELECT tenant_id, id, row_number() OVER (PARTITION BY tenant_id ORDER BY id) AS position
    FROM events
) AS told
WHERE e.tenant_id = told.tenant_id AND e.id = told.id;
INSERT INTO event_heads SELECT tenant_id, max(position) FROM events GROUP BY tenant_id;

-- An event is found by its position, and its identifier says the position.
ALTER TABLE events DROP CONSTRAINT events_pkey, DROP COLUMN id;
ALTER TABLE events ADD PRIMARY KEY (tenant_id, position);
-- What was said stays as it was said.
ALTER TABLE events ALTER COLUMN data TYPE json USING data::json;

GRANT SELECT, INSERT, UPDATE ON event_heads TO farthing_app;
