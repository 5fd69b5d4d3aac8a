"""How payments start: into the platform, out of it and within, and what each must be."""

from typing import Any
from urllib.parse import quote

import pytest
from tests.resources.money import World, faults, problem, uuid_of
from tests.resources.outside import says


async def test_a_card_is_charged_through_the_rail(world: World) -> None:
    account = await world.account()
    owner = await world.owner(account)
    card = await world.card(owner)
    made = (await world.inbound(account, 2500, paymentInstrumentId=card)).json()
    assert made == {
        "id": made["id"],
        "createdAt": made["createdAt"],
        "updatedAt": made["createdAt"],
        "stateId": "ACCEPTED",
        "tags": [],
        "annotations": {},
        "fromOwnerId": owner,
        "toOwnerId": owner,
        "paymentInstrumentId": card,
        "purpose": "PURCHASE",
        "adjustments": [],
        "flow": "INBOUND",
        "method": "card",
        "requirements": {},
        "amount": "2500",
    }
    await world.idle()
    assert len(world.rail.sends("charge")) == 1
    assert await world.states(made) == ["PENDING", "ACCEPTED", "PROCESSING", "EFFECTED"]
    assert await world.events(made) == ["created", "accepted", "processing", "effected"]
    assert await world.amounts(account) == {"complete": 2500, "available": 2500}


async def test_what_a_card_is_to_pay_is_announced_and_not_available_until_it_is_paid(
    world: World,
) -> None:
    world.rail.script["charge"].append(says("pending"))
    account = await world.account()
    tx = await world.charged(account, 300)
    assert tx["stateId"] == "PROCESSING"
    assert await world.amounts(account) == {"credits": 300}


async def test_a_charge_that_the_network_refuses_fails_and_leaves_nothing(world: World) -> None:
    world.rail.script["charge"].append(says("refused", "insufficient_funds"))
    account = await world.account()
    tx = await world.charged(account)
    assert tx["stateId"] == "FAILED"
    assert await world.amounts(account) == {}
    last = (await world.tx(tx, "transitions"))["transitions"][-1]
    assert (last["actor"], last["reason"]) == (
        "PLATFORM",
        "The rail said: refused (insufficient_funds).",
    )


async def test_a_bank_transfer_waits_with_the_reference_that_it_must_carry(world: World) -> None:
    account = await world.account()
    text = await world.reference(account)
    tx = await world.announced(account, 700)
    assert (tx["stateId"], tx["reference"], tx["method"]) == ("PENDING", text, "bankAccount")
    await world.idle()
    assert world.rail.calls == []
    assert await world.amounts(account) == {}


async def test_a_payout_is_reserved_submitted_and_settled(world: World) -> None:
    account = await world.fund(1000)
    bank = await world.bank_account(await world.owner(account))
    world.rail.script["pay_out"].append(says("pending"))
    answer = await world.outbound(account, 400, paymentInstrumentId=bank, reference="PAYOUT 7")
    assert answer.json()["stateId"] == "ACCEPTED"
    assert await world.amounts(account) == {"complete": 1000, "available": 600, "debits": 400}
    await world.idle()
    assert await world.state(answer.json()) == "PROCESSING"
    (order,) = world.rail.sends("pay_out")
    destination, reference = world.rail.paid_out[-1]
    assert (destination.sort_code, reference) == ("108800", "PAYOUT 7")
    world.rail.decide(world.tenant.id, order, 400, "done")
    await world.later(seconds=61)
    assert await world.state(answer.json()) == "EFFECTED"
    assert await world.amounts(account) == {"complete": 600, "available": 600}


async def test_a_payout_that_the_bank_refuses_is_free_again(world: World) -> None:
    account = await world.fund(1000)
    world.rail.script["pay_out"].append(says("refused", "returned_by_bank"))
    assert (await world.paid_out(account, 400))["stateId"] == "FAILED"
    assert await world.amounts(account) == {"complete": 1000, "available": 1000}


async def test_nobody_pays_out_or_over_what_is_not_there(world: World) -> None:
    account, other = await world.fund(1000), await world.account()
    bank = await world.bank_account(await world.owner(account))
    out = await world.outbound(account, 1001, paymentInstrumentId=bank)
    over = await world.internal(account, other, 1001)
    held = await world.internal(account, other, 1001, targetStateId="HELD")
    assert {problem(one) for one in (out, over, held)} == {(409, "insufficient_funds")}
    assert await world.amounts(account) == {"complete": 1000, "available": 1000}
    listed = (await world.call("GET", "/v1/tx?flow=OUTBOUND")).json()["results"]
    assert listed == []


async def test_a_payout_goes_only_to_an_enabled_bank_account_of_the_owner_in_its_currency(
    world: World,
) -> None:
    account = await world.fund(1000)
    owner = await world.owner(account)
    other = await world.bank_account(await world.customer())
    euros = await world.bank_account(owner, currencyISO="EUR")
    bare = {"accountNumber": None, "sortCode": None}
    pending = await world.bank_account(owner, **bare)
    disabled, closed = await world.bank_account(owner), await world.bank_account(owner)
    for one, state in ((disabled, "DISABLED"), (closed, "CLOSED")):
        path = f"/v1/bank-accounts/{one}/state"
        assert (await world.call("PATCH", path, {"toStateId": state})).status_code == 200
    place = "/paymentInstrumentId"
    for bank, code in ((other, "other_owner"), (euros, "currency_mismatch")):
        answer = await world.outbound(account, 10, paymentInstrumentId=bank)
        assert faults(answer) == {place: code}
    for bank in (pending, disabled, closed):
        answer = await world.outbound(account, 10, paymentInstrumentId=bank)
        assert problem(answer) == (409, "instrument_not_usable")
    card = await world.card(owner)
    assert place in faults(await world.outbound(account, 10, paymentInstrumentId=card))
    assert world.rail.sends("pay_out") == []


async def test_a_bank_account_that_is_put_out_of_use_meanwhile_is_not_paid(world: World) -> None:
    account = await world.fund(1000)
    bank = await world.bank_account(await world.owner(account))
    answer = await world.outbound(account, 400, paymentInstrumentId=bank, targetStateId="HELD")
    assert await world.amounts(account) == {"complete": 1000, "available": 600, "debits": 400}
    await world.call("PATCH", f"/v1/bank-accounts/{bank}/state", {"toStateId": "DISABLED"})
    await world.moved(answer.json(), "PROCESSING")
    await world.idle()
    assert await world.state(answer.json()) == "FAILED"
    assert world.rail.sends("pay_out") == []
    assert await world.amounts(account) == {"complete": 1000, "available": 1000}


async def test_an_internal_transfer_is_effected_in_the_same_commit(world: World) -> None:
    payer, payee = await world.fund(1000), await world.account()
    tx = await world.sent(payer, payee, 400, description="d" * 140)
    assert (tx["stateId"], tx["flow"], tx["method"]) == ("EFFECTED", "INTERNAL", "transfer")
    assert "paymentInstrumentId" not in tx
    assert await world.available(payer) == 600
    assert await world.available(payee) == 400
    sql = """
    SELECT count(DISTINCT x) FROM (
        SELECT xmin::text AS x FROM transactions WHERE id = $1
        UNION ALL SELECT xmin::text FROM entries WHERE subject_id = $1
        UNION ALL SELECT xmin::text FROM history WHERE object_id = $1
        UNION ALL SELECT xmin::text FROM events WHERE object_id = $1
    ) AS writers
    """
    assert (await world.house.database.fetch(sql, uuid_of(tx["id"])))[0]["count"] == 1


async def test_escrow_is_held_between_two_accounts(world: World) -> None:
    payer, payee = await world.fund(1000), await world.account()
    tx = await world.sent(payer, payee, 400, targetStateId="HELD")
    assert tx["stateId"] == "HELD"
    assert await world.amounts(payer) == {"complete": 1000, "available": 600, "debits": 400}
    assert await world.amounts(payee) == {"credits": 400}


async def test_escrow_of_a_card_is_charged_and_withheld(world: World) -> None:
    account = await world.account()
    tx = await world.charged(account, 400, targetStateId="HELD")
    assert tx["stateId"] == "HELD"
    assert await world.amounts(account) == {"complete": 400, "withheld": 400}
    await world.moved(tx, "EFFECTED")
    assert await world.amounts(account) == {"complete": 400, "available": 400}


async def test_a_target_of_pending_waits_for_somebody_to_move_it(world: World) -> None:
    account, other = await world.fund(1000), await world.account()
    bank = await world.bank_account(await world.owner(account))
    card = await world.card(await world.owner(account))
    waiting = {"targetStateId": "PENDING"}
    made = [
        (await world.inbound(account, 10, paymentInstrumentId=card, **waiting)).json(),
        (await world.outbound(account, 10, paymentInstrumentId=bank, **waiting)).json(),
        (await world.internal(account, other, 10, **waiting)).json(),
    ]
    await world.idle()
    assert [one["stateId"] for one in made] == ["PENDING"] * 3
    assert len(world.rail.sends()) == 1, "only the charge that funded the account"
    assert await world.amounts(account) == {"complete": 1000, "available": 1000}
    for tx in made:
        assert (await world.moved(tx, "PROCESSING"))["stateId"] == "PROCESSING"
    await world.idle()
    assert [await world.state(tx) for tx in made] == ["EFFECTED"] * 3
    assert await world.available(account) == 990


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("description", "d" * 141),
        ("description", ""),
        ("targetStateId", "PROCESSING"),
        ("targetStateId", "CANCELLED"),
        ("amount", "0"),
        ("amount", "-1"),
        ("amount", "1.5"),
        ("amount", "1" * 19),
        ("groupId", ""),
    ],
)
async def test_what_a_payment_says_must_be_right(world: World, field: str, value: str) -> None:
    account = await world.account()
    body: dict[str, Any] = {"accountId": account, "amount": "10", "method": "bankAccount"}
    body |= {"purpose": "DEPOSIT", field: value}
    assert list(faults(await world.call("POST", "/v1/tx/inbound", body))) == [f"/{field}"]


async def test_accounts_of_a_transfer_are_two_of_one_currency(world: World) -> None:
    payer, euros = await world.fund(100), await world.account(currency="EUR")
    assert faults(await world.internal(payer, euros, 10)) == {"/toAccountId": "currency_mismatch"}
    assert faults(await world.internal(payer, payer, 10)) == {"/toAccountId": "same_account"}


@pytest.mark.parametrize(
    "group", ["a", "order/", "transaction/0190163d-8694-739b-aea5-966c26f8ad91"]
)
async def test_a_group_is_set_once_and_finds_its_transactions(world: World, group: str) -> None:
    payer, payee = await world.fund(100), await world.account()
    made = [await world.sent(payer, payee, 1, groupId=one) for one in (group, group, "b")]
    found = (await world.call("GET", f"/v1/tx?groupId={quote(group)}")).json()["results"]
    assert [one["id"] for one in found] == [made[1]["id"], made[0]["id"]]
    assert {one["groupId"] for one in found} == {group}
    answer = await world.call("PATCH", world.path(made[0]), {"groupId": "c"})
    assert faults(answer) == {"/groupId": "unknown_field"}
