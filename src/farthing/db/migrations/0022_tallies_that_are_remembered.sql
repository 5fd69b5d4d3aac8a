DROP FUNCTION tallies_at;

-- Lets nobody else count in these tallies until the commit, and then says what each last mark says,
-- and which marks are the first after a moment: one question instead of four, and each of its
-- statements sees what was committed before it began. The first lock keeps out whoever would count
-- by what it remembers. Sums go as text, which is read faster than a number without a limit.
CREATE FUNCTION tallies_at(
    tenant uuid, keys uuid[], windowed uuid[], moments timestamptz[], most bigint
) RETURNS TABLE (place bigint, created_at timestamptz, count bigint, total text, amount bigint)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(uuid_hash_extended(tenant, 1));
    PERFORM pg_advisory_xact_lock(one)
    FROM (SELECT uuid_hash_extended(id, 0) AS one FROM unnest(keys) AS k (id) ORDER BY 1) AS locks;
    RETURN QUERY
        SELECT k.place - 1, m.created_at, m.count, m.total::text, m.amount
        FROM unnest(keys) WITH ORDINALITY AS k (id, place) CROSS JOIN LATERAL (
            SELECT t.* FROM farthing.tally_marks AS t
            WHERE t.tenant_id = tenant AND t.tally_id = k.id
            ORDER BY t.created_at DESC, t.count DESC LIMIT 1
        ) AS m;
    RETURN QUERY
        SELECT cardinality(keys) + w.place - 1, m.created_at, m.count, m.total::text, m.amount
        FROM unnest(windowed, moments) WITH ORDINALITY AS w (id, moment, place) CROSS JOIN LATERAL (
            SELECT t.* FROM farthing.tally_marks AS t
            WHERE t.tenant_id = tenant AND t.tally_id = w.id AND t.created_at > w.moment
            ORDER BY t.created_at, t.count LIMIT most
        ) AS m ORDER BY w.place, m.count;
END
$$;
