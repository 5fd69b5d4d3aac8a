-- The sandbox's rail can refuse the next orders, as many as it is told; without a number, none.

ALTER TABLE sandbox_moods ADD COLUMN refusals bigint CHECK (refusals > 0);
