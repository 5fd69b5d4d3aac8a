-- The entries of one account never go back in time, so that a period of time is a range of numbers.

ALTER TABLE balances ADD COLUMN moved_at timestamptz;

-- What a batch that had waited dated too early gets the time of the entry that it follows.
UPDATE entries AS e SET created_at = told.latest
FROM (
    SELECT tenant_id, account_id, number,
           max(created_at) OVER (PARTITION BY tenant_id, account_id ORDER BY number) AS latest
    FROM entries
) AS told
WHERE e.tenant_id = told.tenant_id AND e.account_id = told.account_id AND e.number = told.number
  AND e.created_at < told.latest;

UPDATE balances AS b SET moved_at = e.created_at
FROM entries AS e
WHERE e.tenant_id = b.tenant_id AND e.account_id = b.id AND e.number = b.version;
