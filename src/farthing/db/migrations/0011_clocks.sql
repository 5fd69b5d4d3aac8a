-- Each tenant of a sandbox has a clock of its own, which is so many milliseconds ahead. It stands with the
-- head of the log, so that whoever writes to the log finds out in the same statement whether it moved.
ALTER TABLE event_heads ADD COLUMN ahead bigint NOT NULL DEFAULT 0 CHECK (ahead >= 0);
CREATE INDEX event_heads_by_ahead ON event_heads (tenant_id) WHERE ahead > 0;

-- What falls due next for one tenant.
CREATE INDEX cards_by_own_expiry ON cards (tenant_id, expires_at) WHERE state_id = 'ENABLED';
CREATE INDEX payment_references_by_own_expiry ON payment_references (tenant_id, expires_at)
    WHERE state_id = 'ENABLED';
CREATE INDEX challenges_by_own_expiry ON challenges (tenant_id, expires_at) WHERE outcome IS NULL;
CREATE INDEX transactions_by_own_expiry ON transactions (tenant_id, expires_at)
    WHERE expires_at IS NOT NULL AND state_id IN ('PENDING', 'PROCESSING') AND NOT settled;
CREATE INDEX orders_by_own_due ON orders (tenant_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX sandbox_news_by_own_due ON sandbox_news (tenant_id, due_at, id) WHERE NOT heard;
