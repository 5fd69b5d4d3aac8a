"""Rules: what they see, what they do, and that nobody slips past them."""

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from tests.resources.money import faults, problem

from farthing.db.committer import Committer
from farthing.hearings import RuleShelf

if TYPE_CHECKING:
    from tests.resources.money import World

REFUSE = {"action": "refuse", "message": "No.", "code": "no"}


async def rule(world: "World", when: str, *then: dict[str, Any], **fields: Any) -> dict[str, Any]:
    body = {
        "name": "A rule",
        "on": "transaction.create",
        "when": when,
        "then": list(then) or [REFUSE],
        **fields,
    }
    return await world.made("/v1/rules", body, token=world.tenant.key)


async def alerts(world: "World") -> list[dict[str, Any]]:
    answer = await world.call("GET", "/v1/alerts", token=world.tenant.key)
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


async def test_a_rule_refuses_with_its_message_and_its_code(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    made = await rule(world, 'object.amount > 500 && !("vip" in object.tags)')
    answer = await world.internal(payer, payee, 501)
    assert problem(answer) == (409, "refused_by_rule")
    told = answer.json()
    assert (told["detail"], told["ruleId"], told["ruleCode"]) == ("No.", made["id"], "no")
    assert await world.available(payer) == 1000
    assert (await world.sent(payer, payee, 500))["stateId"] == "EFFECTED"
    assert (await world.sent(payer, payee, 500, tags=["vip"]))["stateId"] == "EFFECTED"


async def test_a_rule_holds_from_the_next_request_on_in_every_process(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    await world.sent(payer, payee, 1)
    # Another process makes the rule, and this one has read the rules before.
    service = world.house.service
    own = service.committer
    object.__setattr__(service, "committer", Committer(service.pool, shelf=RuleShelf(service.pool)))
    made = await rule(world, "true")
    object.__setattr__(service, "committer", own)
    assert problem(await world.internal(payer, payee, 1)) == (409, "refused_by_rule")
    object.__setattr__(service, "committer", Committer(service.pool, shelf=RuleShelf(service.pool)))
    await world.call("DELETE", f"/v1/rules/{made['id']}", token=world.tenant.key)
    object.__setattr__(service, "committer", own)
    assert (await world.sent(payer, payee, 1))["stateId"] == "EFFECTED"


async def test_a_rule_that_is_disabled_or_deleted_is_not_asked(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    made = await rule(world, "true", enabled=False)
    path = f"/v1/rules/{made['id']}"
    assert (made["stateId"], made["enabled"]) == ("DISABLED", False)
    await world.sent(payer, payee, 1)
    shown = await world.call("PATCH", path, {"enabled": True}, token=world.tenant.key)
    assert (shown.json()["stateId"], shown.json()["enabled"]) == ("ENABLED", True)
    assert problem(await world.internal(payer, payee, 1)) == (409, "refused_by_rule")
    await world.call("PATCH", path, {"enabled": False}, token=world.tenant.key)
    await world.sent(payer, payee, 1)
    assert (await world.call("DELETE", path, token=world.tenant.key)).status_code == 200
    again = await world.call("PATCH", path, {"enabled": True}, token=world.tenant.key)
    assert problem(again) == (409, "transition_not_allowed")


async def test_a_payout_that_a_rule_holds_waits_until_somebody_releases_it(
    world: "World",
) -> None:
    account = await world.fund()
    await rule(world, 'object.flow == "OUTBOUND"', {"action": "hold"}, name="Look at payouts")
    held = await world.paid_out(account, 400)
    assert held["stateId"] == "HELD"
    assert await world.orders(held) == []
    assert await world.amounts(account) == {"complete": 1000, "available": 600, "debits": 400}
    history = (await world.tx(held, "transitions"))["transitions"]
    assert history[0]["reason"] == 'The rule "Look at payouts" held it.'
    await world.moved(held, "PROCESSING")
    await world.idle()
    assert await world.state(held) == "EFFECTED"
    assert await world.available(account) == 600


async def test_rules_label_what_they_meet_and_tell_of_it(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    made = await rule(
        world,
        "object.amount >= 100",
        {"action": "tag", "tag": "large"},
        {"action": "annotate", "name": "seen", "value": "yes"},
        {"action": "alert", "message": "Somebody sends a lot."},
    )
    sent = await world.sent(payer, payee, 100, tags=["mine"], annotations={"a": "b"})
    assert sent["tags"] == ["mine", "large"]
    assert sent["annotations"] == {"a": "b", "seen": "yes"}
    (alert,) = await alerts(world)
    assert (alert["kind"], alert["ruleId"], alert["objectId"], alert["message"]) == (
        "ALERT",
        made["id"],
        sent["id"],
        "Somebody sends a lot.",
    )
    sql = "SELECT type FROM events WHERE tenant_id = $1 ORDER BY position DESC LIMIT 3"
    types = [one["type"] for one in await world.house.database.fetch(sql, world.tenant.id)]
    assert "alert.created" in types


async def test_a_dry_rule_only_says_what_it_would_do(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, "true", REFUSE, {"action": "hold"}, dry=True)
    assert (await world.sent(payer, payee, 1))["stateId"] == "EFFECTED"
    (alert,) = await alerts(world)
    assert (alert["kind"], alert["message"]) == ("DRY", "It would have done: refuse, hold.")


async def test_a_rule_that_fails_holds_what_it_should_have_judged(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, 'object.annotations.order == "7"')
    assert problem(await world.internal(payer, payee, 1, annotations={"order": "7"})) == (
        409,
        "refused_by_rule",
    )
    assert (await world.sent(payer, payee, 1, annotations={"order": "8"}))["stateId"] == "EFFECTED"
    assert (await world.sent(payer, payee, 1))["stateId"] == "HELD"
    (alert,) = await alerts(world)
    assert alert["kind"] == "FAILED"


async def test_a_rule_can_ask_how_old_a_customer_is(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, 'now - timestamp(owner.createdAt) < duration("168h")')
    assert problem(await world.internal(payer, payee, 1)) == (409, "refused_by_rule")
    await world.later(days=7)
    await world.sent(payer, payee, 1)


async def test_the_rule_of_lowest_priority_number_speaks_first(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, "true", {**REFUSE, "message": "Second."}, priority=2)
    await rule(world, "true", {**REFUSE, "message": "First."}, priority=1)
    assert (await world.internal(payer, payee, 1)).json()["detail"] == "First."


async def test_a_window_counts_what_was_made_before_the_rule_was(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    for amount in (100, 50, 100):
        await world.sent(payer, payee, amount)
    await rule(world, 'history.sum("internal", duration("1h")) + object.amount > 300')
    assert problem(await world.internal(payer, payee, 51)) == (409, "refused_by_rule")
    await world.sent(payer, payee, 50)
    assert problem(await world.internal(payer, payee, 1)) == (409, "refused_by_rule")


async def test_what_leaves_a_window_counts_no_more(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, 'history.count("internal", duration("60s")) >= 2')
    await world.sent(payer, payee, 1)
    await world.later(seconds=30)
    await world.sent(payer, payee, 1)
    assert problem(await world.internal(payer, payee, 1)) == (409, "refused_by_rule")
    await world.later(seconds=30)
    await world.sent(payer, payee, 1)
    assert problem(await world.internal(payer, payee, 1)) == (409, "refused_by_rule")


async def test_a_window_is_of_one_customer_one_currency_and_one_least_amount(
    world: "World",
) -> None:
    payer, other, payee = await world.fund(), await world.fund(), await world.account()
    await rule(world, 'history.count("internal", duration("1h"), 10) >= 1 && object.amount >= 10')
    await world.sent(payer, payee, 9)
    await world.sent(payer, payee, 10)
    assert problem(await world.internal(payer, payee, 10)) == (409, "refused_by_rule")
    await world.sent(payer, payee, 9)
    await world.sent(other, payee, 10)


async def test_what_is_no_payment_is_not_counted_among_payments(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, 'history.count("internal", duration("1h")) >= 1')
    await world.reference(payer)
    await world.sent(payer, payee, 1)
    assert problem(await world.internal(payer, payee, 1)) == (409, "refused_by_rule")


async def test_tallies_that_were_not_kept_for_a_while_begin_anew(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    made = await rule(world, 'history.count("internal", duration("1h")) >= 3')
    path = f"/v1/rules/{made['id']}"
    await world.sent(payer, payee, 1)
    await world.call("PATCH", path, {"enabled": False}, token=world.tenant.key)
    await world.sent(payer, payee, 1)
    await world.call("PATCH", path, {"enabled": True}, token=world.tenant.key)
    await world.sent(payer, payee, 1)
    assert problem(await world.internal(payer, payee, 1)) == (409, "refused_by_rule")


async def test_marks_that_no_window_reaches_are_forgotten(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, 'history.count("internal", duration("744h")) >= 2')
    await world.sent(payer, payee, 1)
    await world.later(days=20)
    await world.sent(payer, payee, 1)
    assert problem(await world.internal(payer, payee, 1)) == (409, "refused_by_rule")
    await world.later(days=13)
    await world.run("forget what has expired")
    sql = "SELECT count FROM tally_marks WHERE tenant_id = $1"
    left = await world.house.database.fetch(sql, world.tenant.id)
    assert [one["count"] for one in left] == [2]
    await world.sent(payer, payee, 1)
    assert problem(await world.internal(payer, payee, 1)) == (409, "refused_by_rule")


async def test_requests_that_race_do_not_slip_under_a_limit_together(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    await rule(world, 'history.sum("internal", duration("24h")) + object.amount > 70')
    answers = await asyncio.gather(*(world.internal(payer, payee, 10) for _ in range(40)))
    passed = [one for one in answers if one.status_code == 201]
    assert len(passed) == 7
    assert {one.status_code for one in answers} == {201, 409}


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("object.amount >", "Line 1, column 16"),
        ("object.amuont > 1", "Line 1, column 8"),
        ('object.amount > "1"', "Line 1, column 15"),
        ("object.amount", "Line 1, column 1"),
        ('true &&\n history.count("outbund", duration("1h")) > 1', "Line 2, column 16"),
        ("(" * 500, "Line 1"),
    ],
)
async def test_an_expression_that_is_wrong_is_refused_with_its_place(
    world: "World", when: str, said: str
) -> None:
    body = {"name": "x", "on": "transaction.create", "when": when, "then": [REFUSE]}
    answer = await world.call("POST", "/v1/rules", body, token=world.tenant.key)
    assert faults(answer) == {"/when": "bad_expression"}
    assert answer.json()["errors"][0]["detail"].startswith(said)


@pytest.mark.parametrize(
    ("on", "then", "pointers"),
    [
        ("card.create", {"action": "hold"}, {"/then/0/action": "not_applicable"}),
        ("account.create", {"action": "approve"}, {"/then/0/action": "not_applicable"}),
        ("card.create", {"action": "refuse"}, {"/then/0/message": "required"}),
        ("card.create", {"action": "tag"}, {"/then/0/tag": "required"}),
        (
            "card.create",
            {"action": "annotate", "name": "a"},
            {"/then/0/value": "required"},
        ),
        (
            "transaction.create",
            {"action": "hold", "message": "x", "fourEyes": True},
            {"/then/0/message": "not_applicable", "/then/0/fourEyes": "not_applicable"},
        ),
        (
            "transaction.create",
            {"action": "approve", "expiresIn": "P367D"},
            {"/then/0/expiresIn": "invalid_value"},
        ),
        (
            "transaction.create",
            {"action": "approve", "expiresIn": "PT0S"},
            {"/then/0/expiresIn": "invalid_value"},
        ),
    ],
)
async def test_actions_that_do_not_fit_are_refused(
    world: "World", on: str, then: dict[str, Any], pointers: dict[str, str]
) -> None:
    body = {"name": "x", "on": on, "when": "true", "then": [then]}
    answer = await world.call("POST", "/v1/rules", body, token=world.tenant.key)
    assert faults(answer) == pointers
