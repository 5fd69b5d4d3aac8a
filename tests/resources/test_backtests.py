"""Backtests: a rule over the transactions of a time that has passed, as if it had been there."""

import asyncio
import random
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from tests.resources.money import faults, problem
from tests.resources.test_rules import REFUSE, rule

from farthing.agenda import platform
from farthing.core.clock import say_time
from farthing.core.ids import new_id
from farthing.resources.trials import actions, store
from farthing.resources.trials.model import MOST_RUNNING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.resources.money import Answer, World

DUTY = "run backtests"

# Each asks something else of the past; the last one fails where there is no such annotation.
EXPRESSIONS = (
    'history.count("internal", duration("60s")) >= 3',
    'history.sum("internal", duration("90s"), 40) + object.amount > 200',
    'history.count("internal", duration("30s"), 50) + history.count("inbound", duration("9h")) > 2',
    'history.count("accounts", duration("2m")) > 0 && object.amount > 30',
    'actor.type == "CUSTOMER" && history.sum("internal", duration("45s")) > 60',
    'owner.type == "INDIVIDUAL" && customer.id == object.fromOwnerId && now.getSeconds() % 2 == 0',
    'object.updatedAt == object.createdAt && history.count("internal", duration("1s")) == 1',
    'object.annotations.grade == "7" || history.count("internal", duration("10s")) > 2',
)


async def begin(world: "World", made: dict[str, Any], **period: Any) -> dict[str, Any]:
    """Ask for a backtest over all that there was, unless told otherwise."""
    now = world.house.clock.now
    body = {"from": say_time(now - timedelta(days=40)), "to": say_time(now + timedelta(days=1))}
    path = f"/v1/rules/{made['id']}/backtest"
    answer = await world.call("POST", path, {**body, **period}, token=world.tenant.key)
    assert answer.status_code == 202, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def seen(world: "World", backtest: dict[str, Any]) -> dict[str, Any]:
    answer = await world.call("GET", f"/v1/backtests/{backtest['id']}", token=world.tenant.key)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_backtest_says_what_a_rule_would_have_done(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    sent = [await world.sent(payer, payee, amount) for amount in (10, 60, 20, 70)]
    hold = {"action": "hold"}
    made = await rule(world, 'object.flow == "INTERNAL" && object.amount > 50', REFUSE, hold)
    asked = await begin(world, made)
    assert (asked["stateId"], asked["ruleId"]) == ("RUNNING", made["id"])
    assert (asked["progress"], asked["matched"], asked["samples"]) == ({"processed": 0}, 0, [])
    await world.run(DUTY)
    told = await seen(world, asked)
    assert told["stateId"] == "DONE"
    assert told["progress"] == {"processed": 5, "total": 5}
    assert (told["matched"], told["failed"]) == (2, 0)
    assert told["outcomes"] == {"refuse": 2, "hold": 2}
    assert told["samples"] == [sent[1]["id"], sent[3]["id"]]


async def test_a_rule_that_fails_would_have_held_them(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    await world.sent(payer, payee, 1, annotations={"x": "2"})
    made = await rule(world, 'object.annotations.x == "1"', enabled=False)
    asked = await begin(world, made)
    await world.run(DUTY)
    told = await seen(world, asked)
    assert (told["matched"], told["failed"], told["outcomes"]) == (0, 1, {"hold": 1})


async def test_only_what_was_made_within_the_period_is_judged(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    moments = []
    for _ in range(3):
        await world.later(seconds=10)
        moments.append(say_time(world.house.clock.now))
        await world.sent(payer, payee, 1)
    made = await rule(world, 'history.count("internal", duration("1h")) >= 0')
    asked = await begin(world, made, **{"from": moments[1], "to": moments[2]})
    await world.run(DUTY)
    assert (await seen(world, asked))["progress"] == {"processed": 1, "total": 1}


async def test_the_rule_is_run_as_it_was_when_somebody_asked(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    await world.sent(payer, payee, 1)
    made = await rule(world, "true")
    asked = await begin(world, made)
    await world.call("PATCH", f"/v1/rules/{made['id']}", {"when": "false"}, token=world.tenant.key)
    await world.run(DUTY)
    assert (await seen(world, asked))["matched"] == 2


@pytest.mark.parametrize("when", EXPRESSIONS)
@pytest.mark.parametrize("seed", [1, 2])
async def test_a_backtest_matches_what_the_rule_matched_when_it_was_there(
    world: "World", when: str, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - it is to be the same each time
    accounts = [await world.fund(2000) for _ in range(3)]
    tokens = [await world.tenant.token_for(await world.owner(one)) for one in accounts]

    async def pay() -> None:
        payer = chance.randrange(3)
        more: dict[str, Any] = {}
        if chance.random() < 0.4:
            more["token"] = tokens[payer]
        if chance.random() < 0.3:
            more |= {"tags": ["some"], "annotations": {"grade": str(chance.randrange(6, 9))}}
        payee = accounts[(payer + chance.randrange(1, 3)) % 3]
        amount = chance.choice((5, 30, 40, 50, 75, 5000))
        await world.internal(accounts[payer], payee, amount, **more)

    for _ in range(6):
        await pay()
        world.house.clock.now += timedelta(seconds=chance.choice((0, 1, 7)))
    made = await rule(world, when, dry=True)
    since = say_time(world.house.clock.now + timedelta(milliseconds=1))
    world.house.clock.now += timedelta(seconds=1)
    for _ in range(10):
        await asyncio.gather(*(pay() for _ in range(chance.choice((1, 1, 2, 5)))))
        if chance.random() < 0.2:
            await world.account(await world.owner(accounts[0]))
        world.house.clock.now += timedelta(seconds=chance.choice((0, 1, 10, 30, 45)))
    asked = await begin(world, made, **{"from": since})
    await world.run(DUTY)
    told = await seen(world, asked)
    query = f"/v1/alerts?limit=100&ruleId={made['id']}"
    raised = (await world.call("GET", query, token=world.tenant.key)).json()["results"]
    dry = {one["objectId"] for one in raised if one["kind"] == "DRY"}
    assert told["stateId"] == "DONE"
    assert (told["matched"], told["failed"]) == (len(dry), len(raised) - len(dry))
    assert set(told["samples"]) <= dry
    assert len(told["samples"]) == min(20, len(dry))


async def test_a_backtest_that_is_cancelled_is_run_no_further(
    world: "World", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "STRETCH", 1)
    payer, payee = await world.fund(), await world.account()
    await world.sent(payer, payee, 1)
    made = await rule(world, "true")
    waiting, running = await begin(world, made), await begin(world, made)

    async def cancel(backtest: dict[str, Any]) -> "Answer":
        path = f"/v1/backtests/{backtest['id']}/state"
        body = {"toStateId": "CANCELLED", "reason": "Enough."}
        return await world.call("PATCH", path, body, token=world.tenant.key)

    assert (await cancel(waiting)).json()["stateId"] == "CANCELLED"
    assert problem(await cancel(waiting)) == (409, "transition_not_allowed")
    go_through = actions.go_through

    async def interrupted(*given: Any) -> "AsyncIterator[Any]":
        async for found in go_through(*given):
            yield found
            await cancel(running)

    monkeypatch.setattr(actions, "go_through", interrupted)
    await world.run(DUTY)
    assert (await seen(world, waiting))["progress"] == {"processed": 0}
    told = await seen(world, running)
    assert (told["stateId"], told["progress"]) == ("CANCELLED", {"processed": 1, "total": 2})


async def test_a_backtest_whose_worker_died_begins_anew_once_its_claim_runs_out(
    world: "World", monkeypatch: pytest.MonkeyPatch
) -> None:
    payer, payee = await world.fund(), await world.account()
    await world.sent(payer, payee, 1)
    asked = await begin(world, await rule(world, "true"))

    def die(*_: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr(actions, "judge", die)
    with pytest.raises(ConnectionError):
        await world.run(DUTY)
    monkeypatch.undo()
    await world.run(DUTY)
    assert (await seen(world, asked))["stateId"] == "RUNNING"
    await world.later(seconds=actions.CLAIM.total_seconds())
    await world.run(DUTY)
    told = await seen(world, asked)
    assert (told["stateId"], told["progress"]) == ("DONE", {"processed": 2, "total": 2})


async def test_a_backtest_that_cannot_be_carried_out_says_so_and_ends(
    world: "World", monkeypatch: pytest.MonkeyPatch
) -> None:
    payer, payee = await world.fund(), await world.account()
    await world.sent(payer, payee, 1)
    asked = await begin(world, await rule(world, "true"))

    def stumble(*_: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(actions, "judge", stumble)
    await world.run(DUTY)
    told = await seen(world, asked)
    assert (told["stateId"], told["progress"]) == ("FAILED", {"processed": 0, "total": 2})


async def test_whoever_moves_the_clock_runs_what_waits(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    await world.sent(payer, payee, 1)
    asked = await begin(world, await rule(world, "true"))
    moved = await world.call(
        "POST", "/v1/sandbox/clock", {"advance": "PT1S"}, token=world.tenant.key
    )
    assert moved.json()["complete"] is True, moved.text
    assert (await seen(world, asked))["stateId"] == "DONE"


async def test_two_workers_do_not_run_the_same_one(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    await world.sent(payer, payee, 1)
    asked = await begin(world, await rule(world, "true"))
    await asyncio.gather(*(world.run(DUTY) for _ in range(3)))
    told = await seen(world, asked)
    assert (told["stateId"], told["matched"]) == ("DONE", 2)
    sql = "SELECT count(*) FROM events WHERE tenant_id = $1 AND type LIKE 'backtest.%'"
    (count,) = await world.house.database.fetch(sql, world.tenant.id)
    # Made, claimed, its one stretch, done.
    assert count["count"] == 4


async def test_a_worker_that_was_overtaken_writes_nothing_more(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    await world.sent(payer, payee, 1)
    asked = await begin(world, await rule(world, "true"))
    service, slow = world.house.service, new_id()
    (row,) = await store.DUE.find_of(service.pool, world.tenant.id, world.house.clock.now, 9)
    submit = partial(service.committer.submit, platform(world.tenant.id))
    assert (await submit(actions.take_on(row.id, slow))).status == 200
    await world.later(seconds=actions.CLAIM.total_seconds())
    await world.run(DUTY)
    assert (await submit(actions.note(slow, row))).status == 409
    assert (await submit(actions.end(slow, row, "FAILED"))).status == 409
    assert (await seen(world, asked))["stateId"] == "DONE"


async def test_what_cannot_be_run_again_is_refused(world: "World") -> None:
    made = await rule(world, "true", on="card.create")
    now = say_time(world.house.clock.now)
    later = say_time(world.house.clock.now + timedelta(days=367))
    path, key = f"/v1/rules/{made['id']}/backtest", world.tenant.key
    answer = await world.call("POST", path, {"from": now, "to": later}, token=key)
    assert faults(answer) == {"/to": "too_long"}
    answer = await world.call("POST", path, {"from": now, "to": now}, token=key)
    assert faults(answer) == {"/to": "wrong_order"}
    to = say_time(world.house.clock.now + timedelta(days=366))
    answer = await world.call("POST", path, {"from": now, "to": to}, token=key)
    assert problem(answer) == (409, "not_replayable")


async def test_only_so_many_wait_at_once(world: "World") -> None:
    made = await rule(world, "true")
    for _ in range(MOST_RUNNING):
        await begin(world, made)
    now = world.house.clock.now
    body = {"from": say_time(now), "to": say_time(now + timedelta(days=1))}
    path = f"/v1/rules/{made['id']}/backtest"
    answer = await world.call("POST", path, body, token=world.tenant.key)
    assert problem(answer) == (409, "too_many_backtests")
    await world.run(DUTY)
    await begin(world, made, **{"from": "0001-01-01T00:00:00Z", "to": "0001-01-02T00:00:00Z"})
    await world.run(DUTY)
    answer = await world.call("GET", "/v1/backtests?stateId=DONE", token=world.tenant.key)
    assert len(answer.json()["results"]) == MOST_RUNNING + 1
