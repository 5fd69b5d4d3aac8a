-- How often the rules of a tenant were changed: whoever is judged by older ones must decide anew.
ALTER TABLE event_heads ADD COLUMN rules bigint NOT NULL DEFAULT 0 CHECK (rules >= 0);
