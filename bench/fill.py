"""A database after a year: many cards, with everything that is kept beside them."""

import asyncpg

# PostgreSQL's own generator, because a million requests would take a quarter of an hour.
_CARDS = """
CREATE TEMPORARY TABLE made AS SELECT uuidv7() AS id, o.id AS owner_id
FROM generate_series(1, $1) AS n
JOIN (SELECT id, row_number() OVER () AS place, count(*) OVER () AS many
      FROM customers WHERE tenant_id = $2) AS o ON o.place = n % o.many + 1;
"""
_ROWS = (
    """
    INSERT INTO cards SELECT $1, id, 1, now(), now(), 'ENABLED', '["bench"]', '{"order": "1"}',
        owner_id, '4242', '1235', '2036-01-01', 'VISA', 'credit', 'CARD_ON_FILE', false,
        '{"countryISO": "GB"}', '{}' FROM made
    """,
    """
    INSERT INTO vault.numbers SELECT $1, id, 1, (SELECT id FROM vault.keys LIMIT 1),
        decode(repeat('00', 44), 'hex') FROM made
    """,
    """
    INSERT INTO vault.sightings SELECT $1, sha256(id::text::bytea), id, owner_id, now() FROM made
    """,
    """
    INSERT INTO history SELECT $1, id, 1, 'card', NULL, 'ENABLED', 'CLIENT', 'bench', NULL,
        'bench', now() FROM made
    """,
    """
    INSERT INTO events SELECT $1, uuidv7(), 'card.created', 'card', id, 1, now(),
        '{"stateId": "ENABLED"}' FROM made
    """,
    """
    INSERT INTO idempotency SELECT $1, 'bench', id::text, sha256(id::text::bytea), 201,
        '{"stateId": "ENABLED"}', now() FROM made
    """,
)


async def fill_cards(url: str, tenant_id: object, many: int) -> None:
    """Add so many cards to a tenant, behind the service's back."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("SET search_path = farthing")
        await connection.execute(
            _CARDS.replace("$1", str(int(many))).replace("$2", f"'{tenant_id}'")
        )
        for sql in _ROWS:
            await connection.execute(sql.replace("$1", f"'{tenant_id}'"))
        await connection.execute("VACUUM ANALYZE")
        await connection.execute("CHECKPOINT")
    finally:
        await connection.close()
