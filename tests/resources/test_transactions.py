"""How transactions move: one step at a time, by those who may, with all of it written down."""

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from tests.resources.money import World, faults, problem, uuid_of
from tests.resources.outside import says

if TYPE_CHECKING:
    from tests.conftest import Database


async def everything(database: "Database") -> dict[str, list[str]]:
    """Return the whole database, row by row."""
    sql = (
        "SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE schemaname IN ($1, $2)"
    )
    names = [one["name"] for one in await database.fetch(sql, "farthing", "vault")]
    assert {"farthing.idempotency", "farthing.transactions", "vault.numbers"} <= set(names)
    rows = (f"SELECT '{name}' AS name, t::text AS row FROM {name} AS t" for name in names)  # noqa: S608 - names of tables
    found: dict[str, list[str]] = {name: [] for name in names}
    for one in await database.fetch(f"{' UNION ALL '.join(rows)} ORDER BY 1, 2"):
        found[one["name"]].append(one["row"])
    return found


async def escrow(world: World, amount: int = 400) -> tuple[dict[str, Any], str, str]:
    payer, payee = await world.fund(1000), await world.account()
    return await world.sent(payer, payee, amount, targetStateId="HELD"), payer, payee


async def test_from_state_is_a_compare_and_swap(world: World) -> None:
    tx, _, payee = await escrow(world)
    wrong = await world.move(tx, "EFFECTED", fromStateId="PENDING")
    assert problem(wrong) == (409, "state_mismatch")
    assert wrong.json()["currentStateId"] == "HELD"
    assert set(wrong.json()["allowedStateIds"]) == {
        "EFFECTED", "CANCELLED", "PENDING", "PROCESSING",
    }  # fmt: skip
    assert await world.amounts(payee) == {"credits": 400}
    answers = await asyncio.gather(
        *(world.move(tx, target, fromStateId="HELD") for target in ("EFFECTED", "CANCELLED") * 10)
    )
    assert [one.status_code for one in answers].count(200) == 1
    assert {problem(one) for one in answers if one.status_code != 200} == {(409, "state_mismatch")}


async def test_chargeback_as_from_state_means_disputed(world: World) -> None:
    tx = await world.disputed(await world.charged(await world.account(), 100))
    boss = world.tenant.operator
    said = await world.move(tx, "EFFECTED", fromStateId="DISPUTED", token=boss)
    assert faults(said) == {"/fromStateId": "invalid_value"}
    done = await world.moved(tx, "EFFECTED", fromStateId="CHARGEBACK", token=boss)
    assert done["stateId"] == "EFFECTED"


async def test_the_answer_shows_the_state_that_was_asked_for_and_the_rest_comes_by_itself(
    world: World,
) -> None:
    payer, payee = await world.fund(1000), await world.account()
    tx = await world.sent(payer, payee, 400, targetStateId="PENDING")
    answer = await world.moved(tx, "PROCESSING", fromStateId="PENDING")
    assert answer["stateId"] == "PROCESSING"
    assert await world.state(tx) == "EFFECTED"
    assert await world.events(tx) == ["created", "processing", "effected"]
    steps = (await world.tx(tx, "transitions"))["transitions"]
    assert [(one["toStateId"], one["actor"]) for one in steps] == [
        ("PENDING", "CLIENT"),
        ("PROCESSING", "CLIENT"),
        ("EFFECTED", "PLATFORM"),
    ]


async def test_every_step_is_in_the_history_with_actor_reason_time_and_request(
    world: World,
) -> None:
    world.rail.script["charge"].append(says("refused", "card_declined"))
    account = await world.account()
    card = await world.card(await world.owner(account), setAsPreferred=True)
    answer = await world.inbound(account, 10)
    assert answer.json()["paymentInstrumentId"] == card
    await world.idle()
    steps = (await world.tx(answer.json(), "transitions"))["transitions"]
    first, last = steps[0], steps[-1]
    assert first["by"] == world.tenant.customer
    assert first["requestId"] == answer.headers["x-request-id"]
    assert first["createdAt"] == answer.json()["createdAt"]
    assert "fromStateId" not in first
    assert (last["fromStateId"], last["toStateId"]) == ("PROCESSING", "FAILED")
    assert (last["actor"], last["by"]) == ("PLATFORM", "platform")
    assert last["reason"] == "The rail said: refused (card_declined)."
    assert last["requestId"].startswith("rail-")


async def test_tags_are_united_and_annotations_merged_by_a_move(world: World) -> None:
    payer, payee = await world.fund(100), await world.account()
    labels: dict[str, Any] = {"tags": ["a"], "annotations": {"x": "1", "y": "1"}}
    tx = await world.sent(payer, payee, 10, targetStateId="PENDING", **labels)
    done = await world.moved(tx, "HELD", tags=["b", "a"], annotations={"y": "2"})
    assert (done["tags"], done["annotations"]) == (["a", "b"], {"x": "1", "y": "2"})


MOVES = ("HELD", "EFFECTED"), ("HELD", "CANCELLED"), ("HELD", "PROCESSING"), ("HELD", "PENDING")


@pytest.mark.parametrize(("state", "target"), MOVES)
async def test_a_dry_run_says_what_would_happen_and_writes_nothing(
    world: World, state: str, target: str
) -> None:
    tx, payer, payee = await escrow(world)
    before = await everything(world.house.database)
    told = await world.moved(tx, target, dry=True, Idempotency_Key="a-rehearsal")
    assert await everything(world.house.database) == before
    assert await world.state(tx) == state
    done = await world.moved(tx, target, Idempotency_Key="a-rehearsal")
    assert told["dryRun"] is True
    assert told["transaction"]["stateId"] == done["stateId"] == target
    assert told["path"] == [state, *(await world.states(tx))[2:]]
    shown = {one["id"]: one for one in told["accounts"]}
    for account in (payer, payee):
        now = (await world.call("GET", f"/v1/accounts/{account}")).json()
        assert shown[account] == now
    entries = (await world.tx(tx, "entries"))["entries"]
    rest = entries[2:]

    def sense(entry: dict[str, Any]) -> list[tuple[str, Any]]:
        return sorted((name, value) for name, value in entry.items() if name != "createdAt")

    assert sorted(map(sense, told["entries"])) == sorted(map(sense, rest))


async def test_a_dry_run_asks_no_rail_and_refuses_what_the_move_would_refuse(
    world: World,
) -> None:
    world.rail.script["charge"].append(says("pending"))
    tx = await world.charged(await world.account(), 100)
    calls = list(world.rail.calls)
    told = await world.moved(tx, "CANCELLED", dry=True)
    assert told["path"] == ["PROCESSING", "CANCELLED"]
    assert world.rail.calls == calls
    assert problem(await world.move(tx, "EFFECTED", dry=True)) == (409, "transition_not_allowed")
    assert (await world.move(tx, "CANCELLED", dry=True, fromStateId="HELD")).status_code == 409


async def test_a_customer_sees_in_a_dry_run_only_what_is_its_own(world: World) -> None:
    payer, payee = await world.fund(1000), await world.account()
    tx = await world.sent(payer, payee, 400, targetStateId="PENDING")
    token = await world.tenant.token_for(await world.owner(payer))
    told = await world.moved(tx, "CANCELLED", dry=True, token=token)
    assert [one["id"] for one in told["accounts"]] == [payer]


async def test_what_is_included_shows_each_customer_only_its_own(world: World) -> None:
    payer, payee = await world.fund(1000), await world.account()
    tx = await world.sent(payer, payee, 400)
    everything_of_it = "transitions,entries,accounts"
    assert not {"transitions", "entries", "accounts"} & set(await world.tx(tx))
    seen = await world.tx(tx, everything_of_it)
    assert [one["id"] for one in seen["accounts"]] == [payer, payee]
    assert {one["accountId"]: one["completeBalance"] for one in seen["entries"]} == {
        payer: "-400",
        payee: "400",
    }
    for own in (payer, payee):
        token = await world.tenant.token_for(await world.owner(own))
        seen = await world.tx(tx, everything_of_it, token=token)
        assert [one["id"] for one in seen["accounts"]] == [own]
        assert {one["accountId"] for one in seen["entries"]} == {own}
        assert len(seen["transitions"]) == 2
        listed = await world.call("GET", f"/v1/tx?include={everything_of_it}", token=token)
        (same,) = [one for one in listed.json()["results"] if one["id"] == tx["id"]]
        assert same == seen


async def test_the_outside_has_no_account_that_anybody_sees(world: World) -> None:
    account = await world.account()
    seen = await world.tx(await world.charged(account, 10), "entries,accounts")
    assert [one["id"] for one in seen["accounts"]] == [account]
    assert {one["accountId"] for one in seen["entries"]} == {account}


async def test_customers_use_only_what_is_theirs(world: World) -> None:
    mine, theirs = await world.fund(1000), await world.fund(1000)
    me, them = await world.owner(mine), await world.owner(theirs)
    card, bank = await world.card(them), await world.bank_account(them)
    token = await world.tenant.token_for(me)
    second = await world.account(me)
    answers = {
        "/accountId": await world.inbound(theirs, 10, paymentInstrumentId=card, token=token),
        "/fromAccountId": await world.internal(theirs, mine, 10, token=token),
        "/toAccountId": await world.internal(mine, theirs, 10, token=token),
    }
    assert {place: faults(one) for place, one in answers.items()} == {
        place: {place: "unknown_account"} for place in answers
    }
    for answer in (
        await world.inbound(mine, 10, paymentInstrumentId=card, token=token),
        await world.outbound(mine, 10, paymentInstrumentId=bank, token=token),
    ):
        assert faults(answer) == {"/paymentInstrumentId": "unknown_instrument"}
    assert (await world.internal(mine, second, 10, token=token)).status_code == 201
    tx = await world.sent(theirs, await world.account(them), 10, targetStateId="PENDING")
    for answer in (
        await world.call("GET", world.path(tx), token=token),
        await world.move(tx, "CANCELLED", token=token),
    ):
        assert problem(answer) == (404, "not_found")


async def test_a_customer_stops_what_it_sends_and_not_what_others_send(world: World) -> None:
    payer, payee = await world.fund(1000), await world.account()
    tx = await world.sent(payer, payee, 10, targetStateId="PENDING")
    receiver = await world.tenant.token_for(await world.owner(payee))
    sender = await world.tenant.token_for(await world.owner(payer))
    assert problem(await world.move(tx, "CANCELLED", token=receiver)) == (
        409,
        "transition_not_allowed",
    )
    for target in ("HELD", "PROCESSING"):
        assert (await world.move(tx, target, token=sender)).status_code == 409
    assert (await world.moved(tx, "CANCELLED", token=sender))["stateId"] == "CANCELLED"


async def test_options_go_with_the_moves_that_they_are_for(world: World) -> None:
    tx, *_ = await escrow(world)
    amount, adjustment = {"amount": "1"}, {"adjustment": {"adjustmentAmount": "1"}}
    assert "/options/adjustment" in faults(await world.move(tx, "EFFECTED", options=adjustment))
    assert faults(await world.move(tx, "EFFECTED", options=amount)) == {
        "/options/amount": "not_applicable"
    }
    await world.moved(tx, "EFFECTED")
    place = "/options/adjustment/adjustmentAmount"
    assert faults(await world.move(tx, "ADJUSTED")) == {place: "required"}
    assert faults(await world.move(tx, "ADJUSTED", options={"adjustment": {}})) == {
        place: "required"
    }
    assert "/options/amount" in faults(
        await world.move(tx, "ADJUSTED", options={**amount, **adjustment})
    )
    for wrong in ("0", "-1", "1.0"):
        options = {"adjustment": {"adjustmentAmount": wrong}}
        assert list(faults(await world.move(tx, "ADJUSTED", options=options))) == [place]


async def test_both_forms_of_the_path_reach_it_and_no_other(world: World) -> None:
    tx, *_ = await escrow(world)
    key = uuid_of(tx["id"])
    coded = await world.call("PATCH", f"/v1/tx/tx%2F{key}/state", {"toStateId": "PENDING"})
    assert (coded.status_code, coded.json()["id"]) == (200, f"transaction/{key}")
    for wrong in (str(key), f"transaction/{key}"):
        answer = await world.call("PATCH", f"/v1/tx/{wrong}/state", {"toStateId": "HELD"})
        assert problem(answer) == (400, "malformed_id")
        assert "tx/<uuid>" in answer.json()["detail"]


async def test_what_a_client_sets_back_to_pending_stays_there(world: World) -> None:
    tx = await world.charged(await world.account(), 1000, targetStateId="HELD")
    await world.moved(tx, "PENDING")
    assert await world.state(tx) == "PENDING"
    await world.moved(tx, "PROCESSING")
    assert await world.state(tx) == "EFFECTED"


async def test_what_is_possible_now_is_what_a_move_would_do(world: World) -> None:
    tx = await world.charged(await world.account(), 1000, targetStateId="PENDING")
    await world.moved(tx, "HELD")
    answer = await world.call("GET", f"{world.path(tx)}/transitions")
    possible = {one["toStateId"] for one in answer.json()["possible"]}
    refused = await world.move(tx, "EFFECTED")
    assert (
        possible == set(refused.json()["allowedStateIds"]) == {"PENDING", "PROCESSING", "CANCELLED"}
    )
