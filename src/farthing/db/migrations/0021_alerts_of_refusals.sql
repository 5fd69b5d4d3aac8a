-- An alert can tell of something that a rule refused: then there is no object to name.

ALTER TABLE alerts ALTER COLUMN object_id DROP NOT NULL;
