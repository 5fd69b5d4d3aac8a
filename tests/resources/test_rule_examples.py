"""The three rules that every platform needs, as the guide writes them."""

from typing import TYPE_CHECKING, Any

from tests import guides
from tests.resources.money import VISA, problem
from tests.resources.test_trials import ask

if TYPE_CHECKING:
    from tests.resources.money import World

_VALUES = {name: name for name in ("API", "KEY", "JSON", "CUSTOMER", "RULE", "BACKTEST")}


async def made(world: "World", name: str) -> dict[str, Any]:
    """Make the rule of the guide that has this name."""
    values = {**_VALUES, "JSON": "Content-Type: application/json"}
    sent = [guides.read(one, values) for one in guides.commands("rules.md")]
    (body,) = [one.body for one in sent if one.body and one.body.get("name") == name]
    return await world.made("/v1/rules", body, token=world.tenant.key)


async def test_cards_that_lack_an_annotation_are_kept_out(world: "World") -> None:
    await made(world, "Only cards that were checked")
    owner = await world.customer()
    body = {
        "ownerId": owner,
        "cardNumber": VISA,
        "expiry": "1239",
        "cvv": "123",
        "billingAddress": {"countryISO": "GB"},
    }
    for labels in ({}, {"annotations": {"seen": "yes"}}, {"tags": ["checkedBy"]}):
        answer = await world.call("POST", "/v1/cards", {**body, **labels})
        assert problem(answer) == (409, "refused_by_rule")
        assert answer.json()["ruleCode"] == "card_not_checked"
    listed = await world.call("GET", f"/v1/cards?ownerId={owner}")
    assert listed.json()["results"] == []
    await world.card(owner, annotations={"checkedBy": "ada"})


async def test_a_payout_has_a_minimum(world: "World") -> None:
    account = await world.fund(5000)
    await made(world, "No payouts below 10 pounds")
    bank = await world.bank_account(await world.owner(account))
    answer = await world.outbound(account, 999, paymentInstrumentId=bank)
    assert problem(answer) == (409, "refused_by_rule")
    assert answer.json()["detail"] == "Payouts begin at 10 pounds."
    assert await world.available(account) == 5000
    paid = await world.paid_out(account, 1000, paymentInstrumentId=bank)
    assert paid["stateId"] == "EFFECTED"
    # What is smaller but no payout passes.
    assert (await world.sent(account, await world.account(), 1))["stateId"] == "EFFECTED"


async def test_the_third_large_payout_of_a_day_is_held_until_somebody_releases_it(
    world: "World",
) -> None:
    account, other = await world.fund(900_000), await world.fund(900_000)
    await made(world, "Look at the third large payout of a day")
    owner = await world.owner(account)
    assert (await world.paid_out(account, 100_000))["stateId"] == "EFFECTED"
    assert (await world.paid_out(account, 99_999))["stateId"] == "EFFECTED"
    assert (await world.paid_out(account, 250_000))["stateId"] == "EFFECTED"
    third = {"flow": "OUTBOUND", "amount": "100000", "currencyISO": "GBP"}
    assert (await ask(world, object=third, ownerId=owner))["result"] == "held"
    held = await world.paid_out(account, 100_000)
    assert (held["stateId"], held["tags"]) == ("HELD", ["third-large-payout"])
    assert await world.orders(held) == []
    # Small ones pass, and so do those of other customers.
    assert (await world.paid_out(account, 99_999))["stateId"] == "EFFECTED"
    assert (await world.paid_out(other, 100_000))["stateId"] == "EFFECTED"
    await world.moved(held, "PROCESSING")
    await world.idle()
    assert await world.state(held) == "EFFECTED"
    # On the next day the count begins anew.
    await world.later(hours=24)
    assert (await world.paid_out(account, 100_000))["stateId"] == "EFFECTED"
