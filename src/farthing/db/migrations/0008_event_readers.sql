-- No event is dated before the one that it follows: a time is found in the log by halving it, and
-- needs no index.

ALTER TABLE event_heads ADD COLUMN moved_at timestamptz;
UPDATE events AS e SET created_at = told.latest
FROM (
    SELECT tenant_id, position,
           max(created_at) OVER (PARTITION BY tenant_id ORDER BY position) AS latest
    FROM events
) AS told
WHERE e.tenant_id = told.tenant_id AND e.position = told.position AND e.created_at < told.latest;
UPDATE event_heads AS h SET moved_at = e.created_at
FROM events AS e WHERE e.tenant_id = h.tenant_id AND e.position = h.position;
ALTER TABLE event_heads ALTER COLUMN moved_at SET NOT NULL;
