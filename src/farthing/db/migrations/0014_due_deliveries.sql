-- Only what has a time stands in this index, so that nobody looks for the line of an object in it:
-- as long as a new table has no statistics, one index seems as good as the other.

DROP INDEX deliveries_by_due;
CREATE INDEX deliveries_by_due ON deliveries (tenant_id, webhook_id, due_at)
    WHERE status = 'waiting' AND due_at IS NOT NULL;
