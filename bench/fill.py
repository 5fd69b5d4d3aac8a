"""A database after a year: many objects, with everything that is kept beside them.

PostgreSQL's own generator makes the rows, because a million requests would take a quarter of an
hour. In each statement $tenant and $many stand for what they say.
"""

from string import Template
from typing import Final

import asyncpg

_HEAD: Final = """
    UPDATE event_heads SET position = (SELECT max(position) FROM events WHERE tenant_id = $tenant)
    WHERE tenant_id = $tenant
    """

CARDS: Final = (
    """
    CREATE TEMPORARY TABLE made AS SELECT uuidv7() AS id, o.id AS owner_id
    FROM (SELECT n % many AS place FROM generate_series(1, $many) AS n,
          (SELECT count(*) AS many FROM customers WHERE tenant_id = $tenant)) AS m
    JOIN (SELECT id, row_number() OVER () - 1 AS place
          FROM customers WHERE tenant_id = $tenant) AS o ON o.place = m.place
    """,
    """
    INSERT INTO cards SELECT $tenant, id, 1, now(), now(), 'ENABLED', '["bench"]',
        '{"order": "1"}', owner_id, '4242', '1235', '2036-01-01', 'VISA', 'credit',
        'CARD_ON_FILE', false, '{"countryISO": "GB"}', '{}' FROM made
    """,
    """
    INSERT INTO vault.numbers SELECT $tenant, id, 1, (SELECT id FROM vault.keys LIMIT 1),
        decode(repeat('00', 44), 'hex') FROM made
    """,
    """
    INSERT INTO vault.sightings SELECT $tenant, sha256(id::text::bytea), id, owner_id, now()
    FROM made
    """,
    """
    INSERT INTO history SELECT $tenant, id, 1, 'card', NULL, 'ENABLED', 'CLIENT', 'bench', NULL,
        'bench', now() FROM made
    """,
    """
    INSERT INTO events SELECT $tenant, 'card.created', 'card', id, 1, now(),
        '{"stateId": "ENABLED"}', (SELECT position FROM event_heads WHERE tenant_id = $tenant)
        + row_number() OVER (ORDER BY id) FROM made
    """,
    _HEAD,
    """
    INSERT INTO idempotency SELECT $tenant, 'bench', id::text, sha256(id::text::bytea), 201,
        '{"stateId": "ENABLED"}', now() FROM made
    """,
)

# Transfers that were made at once, between the accounts that hold money, each with every row that
# a request would have written: two steps, two events, two entries and its answer.
TRANSACTIONS: Final = (
    """
    CREATE TEMPORARY TABLE places AS
    SELECT a.id, a.owner_id, b.version, b.complete,
           row_number() OVER (ORDER BY a.id) - 1 AS place
    FROM accounts AS a JOIN balances AS b ON b.tenant_id = a.tenant_id AND b.id = a.id
    WHERE a.tenant_id = $tenant AND b.complete > 0
    """,
    """
    CREATE TEMPORARY TABLE made AS
    SELECT n, uuidv7() AS id, uuidv7() AS posting_id, p.id AS payer, q.id AS payee,
           p.owner_id AS from_owner, q.owner_id AS to_owner,
           jsonb_build_object('order', n::text, 'channel', 'web') AS annotations
    FROM (SELECT n, n % many AS payer, (n + 1 + n / many % (many - 1)) % many AS payee
          FROM generate_series(1, $many) AS n, (SELECT count(*) AS many FROM places)) AS m
    JOIN places AS p ON p.place = m.payer
    JOIN places AS q ON q.place = m.payee
    """,
    """
    CREATE TEMPORARY TABLE shown AS
    SELECT m.id, s.version, s.what, jsonb_build_object(
        'id', 'transaction/' || m.id, 'createdAt', now(), 'updatedAt', now(),
        'stateId', s.state_id, 'tags', '["bench", "rent"]'::jsonb, 'annotations', annotations,
        'fromOwnerId', 'customer/' || from_owner, 'toOwnerId', 'customer/' || to_owner,
        'purpose', 'TRANSFER', 'adjustments', '[]'::jsonb, 'flow', 'INTERNAL',
        'method', 'transfer', 'requirements', '{}'::jsonb, 'amount', '1') AS data
    FROM made AS m CROSS JOIN
        (VALUES (1, 'created', 'PENDING'), (2, 'effected', 'EFFECTED'))
        AS s (version, what, state_id)
    """,
    """
    CREATE TEMPORARY TABLE legs AS
    SELECT l.*, p.version + row_number() OVER in_turn AS number,
           p.complete + sum(l.change) OVER in_turn AS complete_after
    FROM (SELECT n, id, posting_id, payer AS account_id, -1 AS change FROM made
          UNION ALL SELECT n, id, posting_id, payee, 1 FROM made) AS l
    JOIN places AS p ON p.id = l.account_id
    WINDOW in_turn AS (PARTITION BY l.account_id ORDER BY l.n)
    """,
    """
    INSERT INTO transactions SELECT $tenant, id, 2, now(), now(), 'EFFECTED',
        '["bench", "rent"]', annotations, 'INTERNAL', 'transfer', 'TRANSFER', 1, 'GBP',
        from_owner, to_owner, payer, payee, NULL, NULL, NULL, NULL, 'EFFECTED', '{}', '[]',
        'complete', false, 0, 0, NULL, NULL FROM made
    """,
    """
    INSERT INTO history SELECT $tenant, id, s.version, 'transaction', s.source, s.target,
        s.actor, 'customer/' || $tenant, NULL, 'req-' || id, now() FROM made CROSS JOIN
        (VALUES (1, NULL, 'PENDING', 'CLIENT'), (2, 'PENDING', 'EFFECTED', 'PLATFORM'))
        AS s (version, source, target, actor)
    """,
    """
    INSERT INTO events SELECT $tenant, 'transaction.' || what, 'transaction', id, version, now(),
        data, (SELECT position FROM event_heads WHERE tenant_id = $tenant)
        + row_number() OVER (ORDER BY id, version) FROM shown
    """,
    _HEAD,
    """
    INSERT INTO entries SELECT $tenant, account_id, number, posting_id, id, 'move', change, 0, 0,
        0, 0, 0, complete_after, now() FROM legs ORDER BY n
    """,
    """
    INSERT INTO idempotency SELECT $tenant, 'customer/' || $tenant,
        encode(sha256(id::text::bytea), 'hex'), sha256(id::text::bytea), 201,
        convert_to(data::text, 'UTF8'), now() FROM shown WHERE version = 2
    """,
    """
    UPDATE balances AS b SET version = b.version + l.entries, complete = b.complete + l.change
    FROM (SELECT account_id, count(*) AS entries, sum(change) AS change FROM legs
          GROUP BY account_id) AS l
    WHERE b.tenant_id = $tenant AND b.id = l.account_id
    """,
)

_SETTINGS: Final = """
SET search_path = farthing;
SET work_mem = '256MB';
-- The rows refer to what is there by their making, and `farthing verify` looks again.
SET session_replication_role = replica;
"""


async def fill(url: str, tenant_id: object, statements: tuple[str, ...], many: int) -> None:
    """Add so many objects to a tenant, behind the service's back; it must be idle meanwhile."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(_SETTINGS)
        async with connection.transaction():
            for sql in statements:
                meant = Template(sql).substitute(tenant=f"'{tenant_id}'::uuid", many=int(many))
                await connection.execute(meant)
        await connection.execute("VACUUM ANALYZE")
        await connection.execute("CHECKPOINT")
    finally:
        await connection.close()
