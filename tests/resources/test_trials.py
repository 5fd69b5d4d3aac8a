"""Trials: what rules would say, and that nothing comes of asking."""

from typing import TYPE_CHECKING, Any

import pytest
from tests.resources.money import faults, problem
from tests.resources.test_rules import REFUSE, alerts, rule

from farthing.core.ids import new_id

if TYPE_CHECKING:
    from tests.resources.money import World

MOVES = {"PENDING": ("PROCESSING", "CANCELLED"), "HELD": ("PROCESSING", "EFFECTED", "CANCELLED")}
PAYOUT = {"flow": "OUTBOUND", "amount": "500", "currencyISO": "GBP"}


async def ask(world: "World", **body: Any) -> dict[str, Any]:
    body = {"on": "transaction.create", **body}
    answer = await world.call("POST", "/v1/rules/test", body, token=world.tenant.key)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def refused(world: "World", **body: Any) -> dict[str, str]:
    body = {"on": "transaction.create", **body}
    return faults(await world.call("POST", "/v1/rules/test", body, token=world.tenant.key))


async def test_each_rule_says_its_value_and_its_outcome_and_what_becomes_of_it_all(
    world: "World",
) -> None:
    owner = await world.customer()
    tag, note = {"action": "tag", "tag": "large"}, {"action": "annotate", "name": "a", "value": "b"}
    small = await rule(world, "object.amount < 100", name="small", priority=1)
    large = await rule(world, "object.amount >= 500", tag, note, name="large", priority=2)
    dry = await rule(world, "true", name="dry", priority=3, dry=True)
    bad = await rule(world, 'object.annotations.x == "1"', name="bad", priority=4)
    told = await ask(world, object=PAYOUT, ownerId=owner)
    assert [(one["ruleId"], one.get("value"), one["outcome"]) for one in told["rules"]] == [
        (small["id"], False, []),
        (large["id"], True, [tag, note]),
        (dry["id"], True, [REFUSE]),
        (bad["id"], None, [{"action": "hold"}]),
    ]
    assert [(one["name"], one["priority"], one["dry"]) for one in told["rules"]][2] == (
        "dry",
        3,
        True,
    )
    assert told["rules"][3]["error"].startswith("object.annotations.x is absent")
    assert (told["result"], told["tags"], told["annotations"]) == ("held", ["large"], {"a": "b"})
    refused_too = await ask(world, object={**PAYOUT, "amount": 99}, ownerId=owner)
    assert [refused_too[name] for name in ("result", "ruleId", "message", "code")] == [
        "refused",
        small["id"],
        "No.",
        "no",
    ]


async def test_without_rules_everything_passes(world: "World") -> None:
    told = await ask(world, object=PAYOUT, ownerId=await world.customer())
    assert told == {
        "on": "transaction.create",
        "rules": [],
        "result": "passes",
        "tags": [],
        "annotations": {},
    }


async def test_a_rule_that_wants_an_approval_is_only_asked_what_it_wants(world: "World") -> None:
    await rule(world, "true", {"action": "approve"}, {"action": "hold"})
    told = await ask(world, object=PAYOUT, ownerId=await world.customer())
    assert told["result"] == "awaitsApproval"


async def test_a_stored_object_is_seen_as_it_is_with_the_windows_of_its_owner(
    world: "World",
) -> None:
    payer, payee = await world.fund(), await world.account()
    sent = await world.sent(payer, payee, 100)
    await rule(world, 'object.amount == 100 && history.count("internal", duration("1h")) >= 2')
    assert (await ask(world, objectId=sent["id"]))["result"] == "passes"
    await world.sent(payer, payee, 1)
    told = await ask(world, objectId=sent["id"])
    assert (told["result"], told["message"]) == ("refused", "No.")


async def test_a_described_object_has_the_windows_of_the_owner_it_names(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    owner, other = await world.owner(payer), await world.owner(payee)
    await rule(world, 'history.sum("internal", duration("1h"), 10) + object.amount > 150')
    await world.sent(payer, payee, 100)
    await world.sent(payer, payee, 9)
    thing = {"flow": "INTERNAL", "amount": 51, "currencyISO": "GBP"}
    assert (await ask(world, object=thing, ownerId=owner))["result"] == "refused"
    assert (await ask(world, object=thing, ownerId=other))["result"] == "passes"
    named = {**thing, "fromOwnerId": owner, "toOwnerId": other}
    assert (await ask(world, object=named))["result"] == "refused"
    assert (await ask(world, object={**named, "flow": "INBOUND"}))["result"] == "passes"
    assert (await ask(world, object={**named, "currencyISO": "EUR"}))["result"] == "passes"
    assert (await ask(world, object={**named, "amount": 50}))["result"] == "passes"


async def test_a_move_is_tried_with_its_step(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    held = await world.sent(payer, payee, 100, targetStateId="HELD")
    when = 'step.from == "HELD" && step.to == "CANCELLED" && step.amount == 7'
    await rule(world, when, on="transaction.transition")
    on = "transaction.transition"
    step = {"to": "CANCELLED", "amount": "7"}
    assert (await ask(world, on=on, objectId=held["id"], step=step))["result"] == "refused"
    step = {"to": "CANCELLED"}
    assert (await ask(world, on=on, objectId=held["id"], step=step))["result"] == "passes"


@pytest.mark.parametrize("then", ["hold", "approve", "fail"])
@pytest.mark.parametrize(("source", "targets"), MOVES.items())
async def test_a_move_is_told_to_become_what_it_becomes(
    world: "World", source: str, targets: tuple[str, ...], then: str
) -> None:
    payer, payee = await world.fund(), await world.account()
    on = "transaction.transition"
    when, does = ("true", then) if then != "fail" else ('object.annotations.x == ""', "hold")
    made = await rule(world, when, {"action": does}, on=on)
    for target in targets:
        sent = await world.sent(payer, payee, 1, targetStateId=source)
        told = await ask(world, on=on, objectId=sent["id"], step={"to": target})
        answer = await world.move(sent, target)
        shown = answer.json()
        if answer.status_code == 409:
            assert (told["result"], told["ruleId"]) == ("refused", shown["ruleId"])
            assert shown["ruleId"] == made["id"]
            continue
        passes = "held" if shown["stateId"] == "HELD" else "passes"
        waits = "approval" in shown["requirements"]
        assert told["result"] == ("awaitsApproval" if waits else passes), target


async def test_asking_leaves_nothing_behind(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    sent = await world.sent(payer, payee, 1)
    await rule(world, 'object.tags == ["never"]', {"action": "alert", "message": "x"})
    await rule(
        world,
        'history.count("internal", duration("1h")) < 2',
        {"action": "alert", "message": "x"},
        {"action": "approve"},
    )
    events = "SELECT count(*) FROM events WHERE tenant_id = $1"
    before = await world.house.database.fetch(events, world.tenant.id)
    for _ in range(3):
        assert (await ask(world, objectId=sent["id"]))["result"] == "awaitsApproval"
    assert await world.house.database.fetch(events, world.tenant.id) == before
    assert await alerts(world) == []


async def test_asking_under_the_same_key_asks_anew_and_does_not_use_it_up(world: "World") -> None:
    payer, payee = await world.fund(), await world.account()
    sent = await world.sent(payer, payee, 1)

    async def test() -> str:
        body = {"on": "transaction.create", "objectId": sent["id"]}
        more = {"token": world.tenant.key, "Idempotency_Key": "one"}
        answer = await world.call("POST", "/v1/rules/test", body, **more)
        assert "idempotency-replayed" not in answer.headers
        return str(answer.json()["result"])

    assert await test() == "passes"
    body = {"name": "A rule", "on": "transaction.create", "when": "true", "then": [REFUSE]}
    await world.made("/v1/rules", body, token=world.tenant.key, Idempotency_Key="one")
    assert await test() == "refused"


async def test_a_rule_that_fails_where_nothing_waits_refuses(world: "World") -> None:
    owner = await world.customer()
    await rule(world, 'object.annotations.x == "1"', on="account.create")
    told = await ask(world, on="account.create", object={"ownerId": owner})
    assert told["result"] == "refused"
    assert told["rules"][0]["outcome"][0]["action"] == "refuse"


async def test_what_does_not_fit_is_refused_at_its_place(world: "World") -> None:
    owner = await world.customer()
    account = await world.account(owner)
    assert await refused(world) == {"/object": "not_exactly_one"}
    assert await refused(world, object=PAYOUT, objectId=account, ownerId=owner) == {
        "/object": "not_exactly_one",
        "/objectId": "wrong_noun",
    }
    assert await refused(world, objectId=f"transaction/{new_id()}") == {
        "/objectId": "unknown_object"
    }
    assert await refused(world, on="account.create", objectId=account, ownerId=owner) == {
        "/ownerId": "not_applicable"
    }
    assert await refused(world, object=PAYOUT) == {"/ownerId": "unknown_owner"}
    assert await refused(world, object=PAYOUT, ownerId=f"customer/{new_id()}") == {
        "/ownerId": "unknown_owner"
    }
    assert await refused(world, object={**PAYOUT, "fromOwnerId": "me"}) == {
        "/object/fromOwnerId": "unknown_owner"
    }
    assert await refused(world, object=PAYOUT, ownerId=owner, step={"to": "HELD"}) == {
        "/step": "not_applicable"
    }
    moving = {"on": "transaction.transition", "object": PAYOUT, "ownerId": owner}
    assert await refused(world, **moving) == {"/step": "required"}
    assert await refused(world, **moving, step={"to": "ENABLED"}) == {"/step/to": "not_applicable"}


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"amuont": 1}, {"/object/amuont": "unknown_field"}),
        ({"amount": "12x"}, {"/object/amount": "wrong_type"}),
        ({"amount": 1.5}, {"/object/amount": "wrong_type"}),
        ({"amount": True}, {"/object/amount": "wrong_type"}),
        ({"amount": 2**63}, {"/object/amount": "invalid_value"}),
        ({"tags": "x"}, {"/object/tags": "wrong_type"}),
        ({"tags": [1]}, {"/object/tags/0": "wrong_type"}),
        ({"annotations": {"a": 1}}, {"/object/annotations/a": "wrong_type"}),
        (
            {"flow": 7, "purpose": []},
            {"/object/flow": "wrong_type", "/object/purpose": "wrong_type"},
        ),
        ({"description": "a\0b"}, {"/object/description": "invalid_characters"}),
        ({"currencyISO": "XXX"}, {"/object/currencyISO": "invalid_value"}),
        ({"currencyISO": None}, {"/object/currencyISO": "invalid_value"}),
    ],
)
async def test_a_described_object_has_the_fields_that_rules_see(
    world: "World", fields: dict[str, Any], found: dict[str, str]
) -> None:
    owner = world.tenant.customer
    assert await refused(world, object={**PAYOUT, **fields}, ownerId=owner) == found


async def test_the_address_of_a_test_is_none_of_a_rule(world: "World") -> None:
    for method in ("GET", "HEAD", "PATCH", "DELETE"):
        answer = await world.call(method, "/v1/rules/test", token=world.tenant.key)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    made = await rule(world, "true", enabled=False)
    answer = await world.call("POST", f"/v1/rules/{made['id']}", {}, token=world.tenant.key)
    assert problem(answer) == (405, "method_not_allowed")
