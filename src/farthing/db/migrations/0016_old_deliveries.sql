-- When a delivery ended, so that it can be forgotten a while later.

ALTER TABLE deliveries ADD COLUMN ended_at timestamptz;
UPDATE deliveries SET ended_at = coalesce((tries -> -1 ->> 'at')::timestamptz, created_at)
WHERE status <> 'waiting';
ALTER TABLE deliveries ADD CHECK ((status = 'waiting') = (ended_at IS NULL));
CREATE INDEX deliveries_by_end ON deliveries (ended_at) WHERE ended_at IS NOT NULL;

GRANT DELETE ON deliveries TO farthing_app;
