-- An alert can tell of something that a rule refused: if it was to be made, it was never there.

ALTER TABLE alerts ADD COLUMN refused boolean NOT NULL DEFAULT false;
