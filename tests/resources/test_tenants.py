"""Tenants of a sandbox are made, reset, kept, put back and thrown away."""

import asyncio
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from farthing.catalog import CHECKS
from farthing.core.ids import new_id, take
from farthing.db.checks import run_checks
from farthing.resources.tenants import store

if TYPE_CHECKING:
    import httpx2
    from tests.conftest import Database, Tenant

PATH = "/v1/sandbox/tenants"
PLAN = """
INSERT INTO farthing.deliveries
SELECT $1, gen_random_uuid(), 1, $2, 1, 1, 'customer.created', 'customer', $1, 'waiting', 0, now(),
    '[]', now()
"""


class Operator:
    """Whoever runs the sandbox."""

    def __init__(self, tenant: "Tenant") -> None:
        self._tenant = tenant

    async def call(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        return await self._tenant.call(method, path, body, token=self._tenant.operator, **headers)

    async def do(self, tenant: str, what: str, body: object = None) -> Any:
        answer = await self.call("POST", f"{PATH}/{tenant}/{what}", body)
        assert answer.is_success, answer.text
        return answer.json()


class Made:
    """A tenant that the operator made, and what its client does there."""

    def __init__(self, operator: Operator, client: "httpx2.AsyncClient", shown: Any) -> None:
        self.operator, self._client = operator, client
        self.id, self.key, self.customer = shown["id"], shown["apiKey"], shown["customerId"]

    async def call(self, method: str, path: str, body: object = None) -> "httpx2.Response":
        return await self._client.request(method, path, json=body, headers={"X-Token": self.key})

    async def new_customer(self, name: str) -> str:
        answer = await self.call("POST", "/v1/customers", {"type": "INDIVIDUAL", "name": name})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    async def names(self) -> list[str]:
        answer = await self.call("GET", "/v1/customers")
        assert answer.status_code == 200, answer.text
        return sorted(one["name"] for one in answer.json()["results"])

    async def events(self) -> list[Any]:
        answer = await self.call("GET", "/v1/events?limit=100")
        assert answer.status_code == 200, answer.text
        return list(answer.json()["results"])


@pytest.fixture
def operator(tenant: "Tenant") -> Operator:
    return Operator(tenant)


@pytest.fixture
async def made(operator: Operator, client: "httpx2.AsyncClient") -> Made:
    answer = await operator.call("POST", PATH, {"name": "Throw-away"})
    assert answer.status_code == 201, answer.text
    return Made(operator, client, answer.json())


async def found(database: "Database", tenant: str) -> list[str]:
    """Return what does not hold of one tenant."""
    told = run_checks(database.admin_url, CHECKS, 1000)
    return [
        one.check.sentence
        async for one in told
        if any(record["tenant_id"] == take(tenant) for record in one.discrepancies)
    ]


async def test_a_tenant_is_made_with_a_key_that_opens_it(made: Made) -> None:
    assert await made.names() == ["Throw-away"]
    await made.new_customer("Ada")
    assert await made.names() == ["Ada", "Throw-away"]


async def test_a_repeat_makes_no_second_tenant(operator: Operator) -> None:
    answers = [
        await operator.call("POST", PATH, {"name": "Once"}, Idempotency_Key="make-one-tenant")
        for _ in range(2)
    ]
    assert answers[0].json() == answers[1].json()
    assert answers[1].headers["idempotency-replayed"] == "true"


async def test_a_reset_forgets_everything_but_the_key(made: Made, database: "Database") -> None:
    await made.new_customer("Ada")
    before = await made.events()
    await made.operator.do(made.id, "reset")
    assert await made.names() == ["Throw-away"]
    after = await made.events()
    assert [one["type"] for one in after] == ["customer.created"]
    assert after[0]["id"] not in {one["id"] for one in before}
    assert await found(database, made.id) == []


async def test_who_follows_the_events_goes_on_after_a_reset(made: Made) -> None:
    await made.new_customer("Ada")
    cursor = (await made.call("GET", "/v1/events")).json()["nextCursor"]
    await made.operator.do(made.id, "reset")
    answer = await made.call("GET", f"/v1/events?cursor={cursor}")
    assert [one["type"] for one in answer.json()["results"]] == ["customer.created"]


async def test_what_was_kept_is_put_back_to_the_letter(made: Made, database: "Database") -> None:
    await made.new_customer("Ada")
    events = await made.events()
    snapshot = await made.operator.do(made.id, "snapshots")
    await made.new_customer("Grace")
    shown = await made.operator.do(made.id, "restore", {"snapshotId": snapshot["id"]})
    assert shown["snapshots"] == [snapshot]
    assert await made.names() == ["Ada", "Throw-away"]
    assert await made.events() == events
    await made.new_customer("Mary")
    assert await made.names() == ["Ada", "Mary", "Throw-away"]
    assert [one["type"] for one in (await made.events())[len(events) :]] == ["customer.created"]
    assert await found(database, made.id) == []


async def test_every_row_of_every_table_comes_back_as_it_was(
    tenant: "Tenant", operator: Operator, database: "Database"
) -> None:
    owner = await tenant.new_customer(name="Ada", tags=["a", "\u00e9"], annotations={"k": "v"})
    await tenant.new_account(owner)
    card = {"ownerId": owner, "number": "4242424242424242", "expiry": "1235"}
    await tenant.call("POST", "/v1/cards", card)
    before = await rows(database, tenant)
    snapshot = await operator.do(f"tenant/{tenant.id}", "snapshots")
    await tenant.new_customer(name="Grace")
    await operator.do(f"tenant/{tenant.id}", "restore", {"snapshotId": snapshot["id"]})
    assert await rows(database, tenant) == before


async def rows(database: "Database", tenant: "Tenant") -> dict[str, str]:
    """Return every row of a tenant, as text."""
    return {
        table: (
            await database.fetch(
                f"SELECT array_agg(t::text ORDER BY t::text) FROM {table} AS t "  # noqa: S608 - ours
                f"WHERE tenant_id = $1 AND {condition}",
                tenant.id,
            )
        )[0][0]
        for table, condition in store.PARTS.items()
    }


async def test_the_clock_goes_back_with_the_tenant_and_begins_anew_with_a_reset(
    made: Made,
) -> None:
    snapshot = await made.operator.do(made.id, "snapshots")
    answer = await made.call("POST", "/v1/sandbox/clock", {"advance": "P3D"})
    assert answer.status_code == 200, answer.text
    await made.operator.do(made.id, "restore", {"snapshotId": snapshot["id"]})
    assert (await made.call("GET", "/v1/sandbox/clock")).json()["ahead"] == "PT0S"
    await made.new_customer("Ada")
    await made.call("POST", "/v1/sandbox/clock", {"advance": "P3D"})
    await made.operator.do(made.id, "reset")
    assert (await made.call("GET", "/v1/sandbox/clock")).json()["ahead"] == "PT0S"
    await made.new_customer("Ada")


async def test_who_is_thrown_away_is_gone_with_keys_and_all(
    made: Made, database: "Database"
) -> None:
    await made.new_customer("Ada")
    await made.operator.do(made.id, "snapshots")
    answer = await made.operator.call("DELETE", f"{PATH}/{made.id}")
    assert answer.status_code == 200, answer.text
    assert (await made.call("GET", "/v1/customers")).status_code == 401
    body = {"type": "INDIVIDUAL"}
    assert (await made.call("POST", "/v1/customers", body)).status_code == 401
    assert (await made.operator.call("GET", f"{PATH}/{made.id}")).status_code == 404
    answer = await made.operator.call("GET", f"/v1/customers/{made.customer}")
    assert answer.status_code == 404
    for table in (*store.PARTS, *store.STAYS):
        sql = f"SELECT 1 FROM {table} WHERE tenant_id = $1"  # noqa: S608 - our own names
        assert await database.fetch(sql, take(made.id)) == [], table
    assert await found(database, made.id) == []


async def test_whoever_writes_while_a_tenant_is_thrown_away_leaves_nothing(
    made: Made, database: "Database"
) -> None:
    async def write() -> set[int]:
        body = {"type": "INDIVIDUAL"}
        return {(await made.call("POST", "/v1/customers", body)).status_code for _ in range(20)}

    writers = [asyncio.create_task(write()) for _ in range(8)]
    await asyncio.sleep(0.02)
    await made.operator.call("DELETE", f"{PATH}/{made.id}")
    statuses = set().union(*await asyncio.gather(*writers))
    assert 401 in statuses
    assert statuses <= {201, 401}
    sql = "SELECT 1 FROM customers WHERE tenant_id = $1"
    assert await database.fetch(sql, take(made.id)) == []


async def test_a_delivery_that_is_planned_meanwhile_goes_with_its_tenant(
    made: Made, database: "Database"
) -> None:
    hook = (await made.call("POST", "/v1/webhooks", {"url": "https://example.org/"})).json()["id"]
    planning = await asyncpg.connect(database.admin_url)
    waits = "SELECT 1 FROM pg_locks WHERE $1 = ANY (pg_blocking_pids(pid)) AND NOT granted"
    pid = planning.get_server_pid()
    async with planning.transaction():
        await planning.execute(PLAN, take(made.id), take(hook))
        deleting = asyncio.create_task(made.operator.call("DELETE", f"{PATH}/{made.id}"))
        while not await database.fetch(waits, pid):  # noqa: ASYNC110 - nobody tells of it.
            await asyncio.sleep(0)
    await planning.close()
    assert (await deleting).status_code == 200
    sql = "SELECT 1 FROM deliveries WHERE tenant_id = $1"
    assert await database.fetch(sql, take(made.id)) == []


async def test_whoever_writes_during_a_reset_writes_before_or_after_it(
    made: Made, database: "Database"
) -> None:
    owner = await made.new_customer("Ada")

    async def write() -> set[int]:
        body = {"ownerId": owner, "currencyISO": "GBP"}
        token = (await made.call("POST", f"/v1/customers/{made.customer}/tokens")).json()
        key = token.get("accessToken", made.key)
        answers = [
            await made._client.post("/v1/accounts", json=body, headers={"X-Token": key})  # noqa: SLF001 - with a token
            for _ in range(10)
        ]
        return {answer.status_code for answer in answers}

    writers = [asyncio.create_task(write()) for _ in range(4)]
    await asyncio.sleep(0.02)
    await made.operator.do(made.id, "reset")
    statuses = set().union(*await asyncio.gather(*writers))
    assert statuses <= {201, 401, 422}
    assert await found(database, made.id) == []


async def test_a_neighbour_notices_nothing(made: Made, tenant: "Tenant") -> None:
    customer = await tenant.new_customer(name="Here to stay")
    await made.operator.do(made.id, "reset")
    await made.operator.call("DELETE", f"{PATH}/{made.id}")
    assert (await tenant.call("GET", f"/v1/customers/{customer}")).status_code == 200


async def test_a_snapshot_of_another_tenant_is_none_of_ours(made: Made, tenant: "Tenant") -> None:
    snapshot = await made.operator.do(f"tenant/{tenant.id}", "snapshots")
    for named in (snapshot["id"], f"snapshot/{new_id()}"):
        answer = await made.operator.call(
            "POST", f"{PATH}/{made.id}/restore", {"snapshotId": named}
        )
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"] == "/snapshotId"


async def test_only_the_operator_throws_tenants_away(tenant: "Tenant") -> None:
    for token in (tenant.key, tenant.token):
        answer = await tenant.call("POST", f"{PATH}/tenant/{tenant.id}/reset", token=token)
        assert answer.status_code == 403


async def test_no_table_with_rows_of_tenants_is_forgotten(database: "Database") -> None:
    records = await database.fetch("""
        SELECT c.table_schema, c.table_name FROM information_schema.columns AS c
        JOIN information_schema.tables AS t USING (table_schema, table_name)
        WHERE c.column_name = 'tenant_id' AND c.table_schema IN ('farthing', 'vault')
          AND t.table_type = 'BASE TABLE'
    """)
    named = {name if schema == "farthing" else f"{schema}.{name}" for schema, name in records}
    assert named == {*store.PARTS, *store.STAYS, "event_heads"}
