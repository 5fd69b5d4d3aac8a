"""Alerts: whatever a rule wants known is known, also where a rule refuses."""

from typing import TYPE_CHECKING, Any

import asyncpg
from tests.resources.money import problem
from tests.resources.test_rules import REFUSE, alerts, rule

if TYPE_CHECKING:
    from tests.resources.money import World

FAILS = 'object.annotations.order == "7"'


async def told(world: "World", *objects: str) -> list[tuple[str, str, bool]]:
    """Return the kind and the rule of each alert and whether a rule refused, oldest first."""
    found = list(reversed(await alerts(world)))
    assert {one["objectId"] for one in found} >= set(objects)
    return [(one["kind"], one["ruleId"], one["refused"]) for one in found]


async def count_events(world: "World") -> int:
    sql = "SELECT count(*) FROM events WHERE tenant_id = $1 AND type = 'alert.created'"
    (found,) = await world.house.database.fetch(sql, world.tenant.id)
    return int(found["count"])


async def open_account(world: "World", owner: str, **more: Any) -> Any:
    body = {"ownerId": owner, "currencyISO": "GBP"}
    return await world.call("POST", "/v1/accounts", body, **more)


async def test_a_rule_that_fails_on_what_cannot_wait_refuses_it_and_says_so(
    world: "World",
) -> None:
    owner = await world.customer()
    made = await rule(world, FAILS, on="account.create")
    answer = await open_account(world, owner)
    assert problem(answer) == (409, "refused_by_rule")
    assert answer.json()["detail"].startswith("A rule failed, and lets nothing pass: object.")
    assert await told(world) == [("FAILED", made["id"], True)]
    (alert,) = await alerts(world)
    assert (await world.call("GET", f"/v1/accounts/{alert['objectId']}")).status_code == 404
    assert await count_events(world) == 1
    assert await open_account(world, owner)
    assert await count_events(world) == 2


async def test_the_history_says_that_a_rule_failed_and_that_one_raised_an_alert(
    world: "World",
) -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, FAILS, name="Seven", priority=1)
    await rule(world, "true", {"action": "alert", "message": "Look."}, name="Look", priority=2)
    sent = await world.sent(payer, payee, 1)
    (first, *_) = (await world.tx(sent, "transitions"))["transitions"]
    assert first["reason"] == (
        'The rule "Seven" failed and held it. The rule "Look" raised an alert.'
    )


async def test_a_rule_of_another_version_fails_and_stands_in_nobody_elses_way(
    world: "World",
) -> None:
    payer, payee = await world.fund(), await world.account()
    made = await rule(world, "object.amount > 1")
    admin = await asyncpg.connect(world.house.database.admin_url)
    sql = "UPDATE farthing.rules SET expression = 'object.tomorrow > 1' WHERE tenant_id = $1"
    await admin.execute(sql, world.tenant.id)
    await admin.close()
    # Another rule lets this process read all of them anew.
    tag = {"action": "tag", "tag": "seen"}
    await rule(world, "true", tag)
    sent = await world.sent(payer, payee, 1)
    assert (sent["stateId"], sent["tags"]) == ("HELD", ["seen"])
    (alert,) = await alerts(world)
    assert alert["message"] == "This version of the service cannot read it."
    gone = await world.call("DELETE", f"/v1/rules/{made['id']}", token=world.tenant.key)
    assert gone.status_code == 200
    assert (await world.sent(payer, payee, 1))["stateId"] == "EFFECTED"


async def test_whoever_repeats_a_refused_request_is_told_of_once(world: "World") -> None:
    owner = await world.customer()
    await rule(world, FAILS, on="account.create")
    for _ in range(3):
        answer = await open_account(world, owner, Idempotency_Key="the-same")
        assert problem(answer) == (409, "refused_by_rule")
    assert await count_events(world) == 1


async def test_a_move_that_cannot_be_held_is_refused_and_told_of_by_its_object(
    world: "World",
) -> None:
    payer, payee = await world.fund(), await world.account()
    sent = await world.sent(payer, payee, 100, targetStateId="HELD")
    card = await world.card(await world.owner(payer))
    moves = await rule(world, FAILS, on="transaction.transition")
    cards = await rule(world, FAILS, on="card.transition")
    assert problem(await world.move(sent, "CANCELLED")) == (409, "refused_by_rule")
    path, body = f"/v1/cards/{card}/state", {"toStateId": "DISABLED"}
    assert problem(await world.call("PATCH", path, body)) == (409, "refused_by_rule")
    assert await told(world, sent["id"], card) == [
        ("FAILED", moves["id"], True),
        ("FAILED", cards["id"], True),
    ]


async def test_a_refusal_does_not_silence_what_other_rules_tell(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    fails = await rule(world, FAILS, priority=1)
    tells = await rule(world, "true", {"action": "alert", "message": "Look."}, priority=2)
    dry = await rule(world, "true", dry=True, priority=3)
    await rule(world, "true", REFUSE, {"action": "tag", "tag": "never"}, priority=4)
    assert problem(await world.internal(payer, payee, 1)) == (409, "refused_by_rule")
    assert await told(world) == [
        ("FAILED", fails["id"], True),
        ("ALERT", tells["id"], True),
        ("DRY", dry["id"], True),
    ]
    assert await world.available(payer) == 1000


async def test_what_is_refused_for_another_reason_is_told_of_by_nobody(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, FAILS, {"action": "hold"})
    assert problem(await world.internal(payer, payee, 5000)) == (409, "insufficient_funds")
    assert await told(world) == []


async def test_a_rehearsal_that_a_rule_refuses_is_told_of_by_nobody(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    sent = await world.sent(payer, payee, 100, targetStateId="HELD")
    await rule(world, FAILS, on="transaction.transition")
    answer = await world.move(sent, "CANCELLED", dry=True)
    assert problem(answer) == (409, "refused_by_rule")
    assert await told(world) == []


async def test_money_that_came_is_told_of_by_name_and_counted_although_a_rule_refuses_it(
    world: "World",
) -> None:
    account = await world.account()
    fails = await rule(world, FAILS, priority=1)
    window = 'history.count("inbound", duration("1h")) >= 1'
    tags = {"action": "tag", "tag": "not-the-first"}
    await rule(world, window, tags, priority=2)
    refuses = await rule(world, "true", priority=3)
    reference = await world.reference(account)
    await world.hear(world.arrival(reference))
    (arrived,) = (await world.call("GET", "/v1/tx")).json()["results"]
    assert arrived["stateId"] == "HELD"
    assert await told(world, arrived["id"]) == [("FAILED", fails["id"], False)]
    await world.call("DELETE", f"/v1/rules/{refuses['id']}", token=world.tenant.key)
    await world.call("DELETE", f"/v1/rules/{fails['id']}", token=world.tenant.key)
    await world.hear(world.arrival(await world.reference(account)))
    second = (await world.call("GET", "/v1/tx")).json()["results"][0]
    assert second["tags"] == ["not-the-first"]


async def test_a_rule_that_fails_when_somebody_releases_a_payment_leaves_it_held(
    world: "World",
) -> None:
    payer, payee = await world.fund(), await world.account()
    sent = await world.sent(payer, payee, 100, targetStateId="HELD")
    made = await rule(world, FAILS, {"action": "hold"}, on="transaction.transition")
    assert problem(await world.move(sent, "EFFECTED")) == (409, "refused_by_rule")
    assert await world.state(sent) == "HELD"
    assert await told(world, sent["id"]) == [("FAILED", made["id"], True)]
    path = f"/v1/rules/{made['id']}"
    await world.call("PATCH", path, {"when": "true"}, token=world.tenant.key)
    # A rule that holds is not asked whether somebody may release what is held.
    await world.moved(sent, "EFFECTED")
