-- A claim runs out by the machine's clock, and has its own column: that of its tenant may be moved
-- while the delivery is under way. What is claimed has no other time.

ALTER TABLE deliveries
    ADD COLUMN claimed_until timestamptz,
    ADD CHECK (claimed_until IS NULL OR (status = 'waiting' AND due_at IS NULL));
CREATE INDEX deliveries_by_claim ON deliveries (tenant_id, webhook_id, claimed_until)
    WHERE status = 'waiting' AND claimed_until IS NOT NULL;
