"""The clock of a tenant: forward only, and everything that is due happens on the way, in order."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import pytest_asyncio
from tests.resources.houses import Clock, House, open_client, start
from tests.resources.money import World, faults, open_world, uuid_of
from tests.resources.outside import ScriptedRail, says

from farthing.catalog import MACHINES
from farthing.core.clock import say_time, system_clock
from farthing.core.durations import read_duration, say_duration
from farthing.core.ids import new_id
from farthing.db.migrate import migrate
from farthing.http.service import Service
from farthing.rails.base import Dispute
from farthing.resources.clocks import actions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.conftest import Database

PATH = "/v1/sandbox/clock"


async def advance(world: World, **body: Any) -> dict[str, Any]:
    """Move the clock, and take a new token, because the old one may have expired by it."""
    answer = await world.call("POST", PATH, body, token=world.tenant.key)
    assert answer.status_code == 200, answer.text
    token = await world.tenant.token_for(world.tenant.customer)
    world.tenant = replace(world.tenant, token=token)
    found: dict[str, Any] = answer.json()
    return found


async def now_of(world: World) -> datetime:
    shown = (await world.call("GET", PATH, token=world.tenant.key)).json()
    return datetime.fromisoformat(shown["now"])


def types(moved: dict[str, Any]) -> list[str]:
    return [event["type"] for event in moved["events"]]


def in_months(now: datetime, months: int) -> str:
    """Return the month in which a card expires, as cards have it."""
    month = now.month - 1 + months
    return f"{month % 12 + 1:02}{(now.year + month // 12) % 100:02}"


async def test_a_clock_shows_the_real_time_until_it_is_moved(world: World) -> None:
    shown = (await world.call("GET", PATH)).json()
    assert shown == {"now": say_time(world.house.clock.now), "ahead": "PT0S"}
    moved = await advance(world, advance="P1DT2H")
    assert moved["now"] == say_time(world.house.clock.now + timedelta(days=1, hours=2))
    assert (moved["complete"], moved["events"]) == (True, [])
    assert (await world.call("GET", PATH)).json() == {"now": moved["now"], "ahead": "P1DT2H"}
    to = world.house.clock.now + timedelta(days=3)
    assert (await advance(world, to=to.isoformat()))["now"] == say_time(to)
    assert (await world.call("GET", PATH)).json()["ahead"] == "P3D"


async def test_time_goes_on_from_where_the_clock_was_moved_to(world: World, house: House) -> None:
    await advance(world, advance="PT1H")
    before = await now_of(world)
    house.clock.now += timedelta(seconds=7)
    assert await now_of(world) == before + timedelta(seconds=7)


async def test_everything_that_expires_does_so_in_the_order_of_time(world: World) -> None:
    began = await now_of(world)
    account = await world.account()
    owner = await world.owner(account)
    world.rail.script["charge"].append(says("challenge"))
    asked = await world.charged(account, 300)
    reference = (await world.made("/v1/references", {"toId": account}))["id"]
    awaited = await world.announced(account, 200)
    card = await world.card(owner, expiry=in_months(began, 3))
    later = await world.card(owner, expiry=in_months(began, 60))
    moved = await advance(world, advance="P400D")
    wanted = [asked["id"], awaited["id"], card, reference]
    ended = [one for one in moved["events"] if not one["type"].endswith(".updated")]
    assert [one["objectId"] for one in ended] == wanted
    times = [datetime.fromisoformat(event["createdAt"]) for event in moved["events"]]
    assert times == sorted(times)
    passed = [time - began for time in times]
    assert passed[0] == timedelta(minutes=15)
    assert passed[-1] == timedelta(days=365)
    assert timedelta(days=30) in passed
    assert await world.state(asked) == await world.state(awaited) == "FAILED"
    states = [
        (await world.call("GET", f"/v1/cards/{one}")).json()["stateId"] for one in (card, later)
    ]
    assert states == ["INACTIVE", "ENABLED"]
    shown = (await world.call("GET", f"/v1/references/{reference}")).json()
    assert (shown["stateId"], shown["updatedAt"]) == ("EXPIRED", ended[-1]["createdAt"])


async def test_a_token_from_before_is_refused_at_once_after_its_hour(world: World) -> None:
    old = world.tenant.token
    assert (await world.call("GET", PATH, token=old)).status_code == 200
    await advance(world, advance="PT59M")
    assert (await world.call("GET", PATH, token=old)).status_code == 200
    await advance(world, advance="PT2M")
    assert (await world.call("GET", PATH, token=old)).status_code == 401
    assert (await world.call("GET", PATH)).status_code == 200


async def test_a_payout_settles_when_the_rail_says_so_later(world: World) -> None:
    world.rail.script["pay_out"].append(says("pending"))
    tx = await world.paid_out(await world.fund(500), 400)
    assert tx["stateId"] == "PROCESSING"
    world.rail.decide(world.tenant.id, await world.order_of(tx), 400, "done")
    moved = await advance(world, advance="PT1H")
    assert types(moved) == ["transaction.effected"]
    assert await world.state(tx) == "EFFECTED"


async def test_an_order_is_tried_again_when_the_rail_was_away(world: World) -> None:
    world.rail.away = True
    account = await world.account()
    tx = await world.charged(account, 500)
    assert tx["stateId"] == "ERRORED"
    assert types(await advance(world, advance="PT5M")) == []
    attempts = (await world.orders(tx))[0].attempts
    assert attempts > 2
    world.rail.away = False
    assert types(await advance(world, advance="PT1H"))[-1] == "transaction.effected"
    assert await world.available(account) == 500


async def test_news_that_must_wait_is_heard_as_soon_as_it_can_be(world: World) -> None:
    tx = await world.charged(await world.account(), 500)
    world.rail.script["refund"].append(says("pending"))
    assert (await world.refund(tx, 100)).status_code == 200
    await world.idle()
    order = await world.order_of(tx)
    world.rail.tell(Dispute(world.tenant.id, new_id(), order, None, "fraudulent"))
    assert "transaction.disputed" not in types(await advance(world, advance="PT10S"))
    (refund,) = [one for one in await world.orders(tx) if one.kind == "refund"]
    world.rail.decide(world.tenant.id, refund.id, 100, "done")
    moved = await advance(world, advance="P1D")
    assert types(moved) == ["transaction.refunded", "transaction.disputed"]


async def test_other_tenants_keep_their_time_and_their_objects(world: World, house: House) -> None:
    other = await open_world(house)
    waits = await other.announced(await other.account(), 100)
    await advance(world, advance="P90D")
    assert await now_of(other) == house.clock.now
    await other.run("expire transactions", "expire cards", "forget what has expired")
    assert await other.state(waits) == waits["stateId"] == "PENDING"
    assert (await other.call("GET", PATH)).status_code == 200


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ({"advance": "-P1D"}, {"/advance": "invalid_format"}),
        ({"advance": "P1M"}, {"/advance": "invalid_format"}),
        ({"advance": "P1Y"}, {"/advance": "invalid_format"}),
        ({"advance": "P"}, {"/advance": "invalid_format"}),
        ({"advance": "P1DT"}, {"/advance": "invalid_format"}),
        ({"advance": "PT1.5S"}, {"/advance": "invalid_format"}),
        ({"advance": "p1d"}, {"/advance": "invalid_format"}),
        ({"advance": 3}, {"/advance": "wrong_type"}),
        ({"advance": "P3654D"}, {"/advance": "invalid_value"}),
        ({"advance": "P9999W"}, {"/advance": "invalid_value"}),
        ({"to": "9999-12-31T23:59:59Z"}, {"/to": "invalid_value"}),
        ({"to": "2020-01-01T00:00:00Z"}, {"/to": "wrong_order"}),
        ({"to": "2100-01-01T00:00:00Z", "advance": "P1D"}, {"/to": "not_applicable"}),
    ],
    ids=str,
)
async def test_a_clock_goes_neither_back_nor_anywhere_unclear(
    world: World, body: dict[str, Any], wrong: dict[str, str]
) -> None:
    before = await now_of(world)
    assert faults(await world.call("POST", PATH, body)) == wrong
    assert await now_of(world) == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("PT0S", "PT0S"),
        ("P3D", "P3D"),
        ("P2W", "P14D"),
        ("PT36H", "P1DT12H"),
        ("P1DT1H1M1S", "P1DT1H1M1S"),
        ("PT90M", "PT1H30M"),
        ("PT100S", "PT1M40S"),
    ],
)
def test_a_duration_is_read_and_said_in_days_hours_minutes_and_seconds(
    text: str, said: str
) -> None:
    assert say_duration(read_duration(text)) == said
    assert say_duration(timedelta(milliseconds=1200)) == "PT1.2S"


async def test_a_repeat_with_the_same_key_moves_the_clock_once_in_any_process(
    world: World, house: House
) -> None:
    body, key = {"advance": "P1D"}, {"Idempotency_Key": "once", "token": world.tenant.key}
    first = await world.call("POST", PATH, body, **key)
    again = await world.call("POST", PATH, body, **key)
    neighbour = await start(house.database, house.rail, house.clock)
    async with open_client(neighbour) as client:
        there = replace(world.tenant, _client=client)
        elsewhere = await there.call("POST", PATH, body, **key)
    await neighbour.stop()
    assert first.content == again.content == elsewhere.content
    assert await now_of(world) == house.clock.now + timedelta(days=1)


async def test_two_advances_at_once_come_one_after_the_other(world: World, house: House) -> None:
    neighbour = await start(house.database, house.rail, house.clock)
    async with open_client(neighbour) as client, asyncio.timeout(30):
        there = World(house, replace(world.tenant, _client=client))
        await asyncio.gather(
            *(
                one.call("POST", PATH, {"advance": "P1D"}, token=one.tenant.key)
                for one in (world, there, world, there)
            )
        )
    await neighbour.stop()
    assert await now_of(world) == house.clock.now + timedelta(days=4)


async def test_a_process_that_has_not_heard_of_the_move_dates_nothing_before_it(
    world: World, house: House
) -> None:
    neighbour = await start(house.database, house.rail, house.clock)
    async with open_client(neighbour) as client:
        there = replace(world.tenant, _client=client)
        await there.new_customer()
        moved = await advance(world, advance="P2D")
        body = {"type": "INDIVIDUAL"}
        made = await there.call("POST", "/v1/customers", body, token=world.tenant.key)
        assert made.json()["createdAt"] == moved["now"]
        token = await there.token_for(there.customer)
        assert (await world.call("GET", PATH, token=token)).status_code == 200
    await neighbour.stop()


async def test_a_clock_with_too_much_to_do_stops_on_the_way_and_goes_on_when_asked(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = await world.account()
    waiting = []
    for _ in range(4):
        waiting.append(await world.announced(account, 100))
        world.house.clock.now += timedelta(seconds=1)
    monkeypatch.setattr(actions, "MOST_STEPS", 3)
    moved = await advance(world, advance="P31D")
    assert (moved["complete"], len(moved["events"])) == (False, 3)
    assert moved["now"] < moved["to"]
    rest = await advance(world, to=moved["to"])
    assert (rest["complete"], rest["now"], len(rest["events"])) == (True, moved["to"], 1)
    assert {await world.state(one) for one in waiting} == {"FAILED"}


async def test_the_worker_sees_to_tenants_whose_clock_is_ahead(world: World, house: House) -> None:
    waits = await world.announced(await world.account(), 100)
    soon = house.clock.now + timedelta(days=29)
    await house.service.clocks.move(world.tenant.id, soon)
    world.tenant = replace(world.tenant, token=await world.tenant.token_for(world.tenant.customer))
    await world.run("expire transactions")
    assert await world.state(waits) == "PENDING"
    await house.service.clocks.move(world.tenant.id, soon + timedelta(days=1))
    world.tenant = replace(world.tenant, token=await world.tenant.token_for(world.tenant.customer))
    await world.run("expire transactions", "forget what has expired")
    assert await world.state(waits) == "FAILED"
    sql = "SELECT count(*) FROM credentials WHERE tenant_id = $1 AND kind = 'accessToken'"
    assert (await house.database.fetch(sql, world.tenant.id))[0][0] == 1


async def test_the_janitor_comes_along(world: World, house: House) -> None:
    await world.call("POST", "/v1/customers", {"type": "INDIVIDUAL"}, Idempotency_Key="old")
    await advance(world, advance="P3D")
    kept = "SELECT count(*) FROM {} WHERE tenant_id = $1"
    tokens = await house.database.fetch(
        f"{kept} AND kind = 'accessToken'".format("credentials"), world.tenant.id
    )
    answers = await house.database.fetch(kept.format("idempotency"), world.tenant.id)
    assert (tokens[0][0], answers[0][0]) == (1, 0)


async def test_what_is_made_afterwards_is_of_the_tenants_time_also_in_statements(
    world: World,
) -> None:
    payer, payee = await world.fund(500), await world.account()
    before = await now_of(world)
    moved = await advance(world, advance="P40D")
    tx = await world.sent(payer, payee, 100)
    assert tx["createdAt"] == tx["updatedAt"] == moved["now"]
    after = await now_of(world) + timedelta(seconds=1)

    async def entries(begin: datetime, end: datetime) -> list[dict[str, Any]]:
        period = {"from": say_time(begin), "to": say_time(end)}
        path = f"/v1/accounts/{payee}/statement?{httpx2.QueryParams(period)}"
        found: list[dict[str, Any]] = (await world.call("GET", path)).json()["entries"]
        return found

    assert await entries(before - timedelta(days=1), before + timedelta(days=39)) == []
    assert len(await entries(before + timedelta(days=39), after)) == 1


@pytest_asyncio.fixture
async def busy(database: "Database") -> "AsyncIterator[tuple[World, World]]":
    """Give one tenant in two processes, both by the real clock."""
    own, rail = await database.create(), ScriptedRail()
    await migrate(own.url, MACHINES)
    services = [await start(own, rail, system_clock, lanes=2) for _ in range(2)]  # type: ignore[arg-type]  # any clock will do
    async with open_client(services[0]) as one, open_client(services[1]) as two:
        first = await open_world(House(services[0], one, own, rail, Clock(system_clock())))
        second = House(services[1], two, own, rail, first.house.clock)
        yield first, World(second, replace(first.tenant, _client=two))
    for service in services:
        await service.stop()


async def test_no_event_and_no_entry_goes_back_behind_an_advance_under_load(
    busy: tuple[World, World],
) -> None:
    first, second = busy
    payer, payee = await first.fund(100_000), await first.account()
    for _ in range(20):
        await first.announced(payee, 7)
    done = asyncio.Event()

    async def pay(world: World) -> int:
        count = 0
        while not done.is_set():
            body = {"fromAccountId": payer, "toAccountId": payee, "amount": "1"}
            body |= {"purpose": "TRANSFER"}
            answer = await world.call("POST", "/v1/tx/internal", body)
            # The token ends on the way.
            if answer.status_code == 401:
                return count
            assert answer.status_code == 201, answer.text
            count += 1
        return count

    async with asyncio.timeout(60):
        load = [asyncio.create_task(pay(one)) for one in (first, second) for _ in range(8)]
        targets = []
        for _ in range(10):
            await asyncio.sleep(0.05)
            answer = await second.call("POST", PATH, {"advance": "PT5M"}, token=second.tenant.key)
            assert answer.status_code == 200, answer.text
            sql = "SELECT position FROM event_heads WHERE tenant_id = $1"
            head = (await first.house.database.fetch(sql, first.tenant.id))[0][0]
            targets.append((head, answer.json()["to"]))
        await second.call("POST", PATH, {"advance": "P40D"}, token=second.tenant.key)
        done.set()
        assert sum(await asyncio.gather(*load)) > 20
    rows = await first.house.database.fetch(
        "SELECT position, created_at FROM events WHERE tenant_id = $1 ORDER BY position",
        first.tenant.id,
    )
    for head, target in targets:
        late = [row["created_at"] for row in rows if row["position"] > head]
        assert min(late) >= datetime.fromisoformat(target)
    entries = await first.house.database.fetch(
        "SELECT created_at FROM entries WHERE account_id = $1 ORDER BY number", uuid_of(payer)
    )
    times = [row["created_at"] for row in entries]
    assert times == sorted(times)
    assert await first.house.discrepancies() == []


async def test_live_has_no_such_address(house: House) -> None:
    settings = house.database.settings(
        environment="live", rail="tests.resources.test_clocks:own_rail"
    )
    service = await Service.start(settings)
    try:
        async with open_client(service) as client:
            for method in ("GET", "POST"):
                answer = await client.request(method, PATH, json={})
                assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
        with pytest.raises(TypeError):
            await service.clocks.move(new_id(), system_clock())
    finally:
        await service.stop()


def own_rail(_: object) -> ScriptedRail:
    return ScriptedRail()
