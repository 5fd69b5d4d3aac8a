"""The sandbox's rail: an outside world that remembers, also across restarts and processes."""

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
import pytest_asyncio
from schwifty import BIC, IBAN

from farthing.core.ids import UUID_PATTERN, new_id
from farthing.db.committer import Committer
from farthing.db.pool import Pool, open_pool
from farthing.rails.base import (
    Arrival,
    BankVerdict,
    CardDetails,
    Destination,
    Dispute,
    DisputeEnd,
    Hidden,
    News,
    Order,
    Outcome,
    RailAway,
)
from farthing.rails.numbers import MAGIC_CARDS, MAGIC_SORT_CODES
from farthing.rails.sandbox import OrderNotOpen, SandboxRail
from farthing.resources.access import actions

if TYPE_CHECKING:
    from tests.conftest import Database

WORKS, ASKS, BROKE = "4242424242424242", "4000002760003184", "4000000000009995"
UNKNOWN, DISPUTED, KEEPS = "4000000000000119", "4000000000000259", "4000000000005126"
IBAN_OF_108804 = "GB11FRTH10880431926819"
RECALLED = Outcome("refused", "recalled")
MINUTE = timedelta(minutes=1)


class Hands:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = datetime(2031, 5, 4, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest_asyncio.fixture
async def pool(database: "Database") -> AsyncIterator[Pool]:
    opened = await open_pool(database.url, 4)
    yield opened
    opened.terminate()


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest_asyncio.fixture
async def rail(pool: Pool, clock: Hands) -> SandboxRail:
    return SandboxRail(pool, Committer(pool, clock=clock))


@pytest_asyncio.fixture
async def neighbour(database: "Database", clock: Hands) -> AsyncIterator[SandboxRail]:
    """Give the rail of another process."""
    opened = await open_pool(database.url, 4)
    yield SandboxRail(opened, Committer(opened, clock=clock))
    opened.terminate()


@pytest_asyncio.fixture
async def tenant_id(pool: Pool) -> UUID:
    return await actions.found_tenant(Committer(pool), "Shop")


def of(tenant_id: UUID, amount: int = 500, currency: str = "GBP") -> Order:
    return Order(tenant_id, new_id(), amount, currency)


def card(number: str = WORKS) -> CardDetails:
    return CardDetails(Hidden(number), "1249", Hidden("731"))


def at(sort_code: str | None, iban: str | None = None, currency: str = "GBP") -> Destination:
    number = None if sort_code is None else "55779911"
    return Destination("GB", currency, number, sort_code, iban, None)


async def charge(
    rail: SandboxRail, order: Order, number: str = WORKS, *, approved: bool = False
) -> Outcome:
    return await rail.charge(order, card(number), approved=approved)


async def pay(rail: SandboxRail, order: Order, sort_code: str = "108800") -> Outcome:
    return await rail.pay_out(order, at(sort_code), "Thank you")


async def charged(rail: SandboxRail, tenant_id: UUID, number: str = WORKS) -> Order:
    """Charge 500 and return the order."""
    order = of(tenant_id)
    assert await charge(rail, order, number) == Outcome("done")
    return order


async def told(rail: SandboxRail, tenant_id: UUID) -> list[News]:
    """Return the news of one tenant."""
    return [one for one in await rail.news() if one.tenant_id == tenant_id]


async def rows(pool: Pool, tenant_id: UUID) -> list[Any]:
    sql = "SELECT * FROM sandbox_orders WHERE tenant_id = $1 ORDER BY id"
    return await pool.fetch(sql, tenant_id)


@pytest.mark.parametrize("magic", MAGIC_CARDS, ids=lambda magic: magic.number)
async def test_a_charge_has_the_fate_of_its_number(
    rail: SandboxRail, tenant_id: UUID, magic: Any
) -> None:
    order = of(tenant_id)
    fate = Outcome(magic.charge, magic.reason)
    assert await charge(rail, order, magic.number) == fate
    assert await rail.ask(order) == fate


@pytest.mark.parametrize("magic", MAGIC_SORT_CODES, ids=lambda magic: magic.sort_code)
async def test_a_payout_has_the_fate_of_its_sort_code(
    rail: SandboxRail, tenant_id: UUID, magic: Any
) -> None:
    order = of(tenant_id)
    fate = Outcome(magic.payout, magic.reason)
    assert await pay(rail, order, magic.sort_code) == fate
    assert await rail.ask(order) == fate


@pytest.mark.parametrize(
    ("number", "status"),
    [(ASKS, "challenge"), (KEEPS, "done"), (DISPUTED, "done"), (UNKNOWN, "unknown")],
)
async def test_the_numbers_that_transactions_are_tried_with_verify_and_then_differ(
    rail: SandboxRail, tenant_id: UUID, number: str, status: str
) -> None:
    assert (await rail.verify_card(card(number))).outcome == "verified"
    assert (await charge(rail, of(tenant_id), number)).status == status


@pytest.mark.parametrize(
    ("destination", "status"),
    [
        (at("108802", IBAN_OF_108804), "refused"),
        (at("108802", IBAN_OF_108804, "EUR"), "pending"),
        (at(None, IBAN_OF_108804), "pending"),
        (at("108802", None, "EUR"), "refused"),
        # What stands there in a German IBAN is no sort code.
        (at("108802", "DE03370410880253201300", "EUR"), "done"),
    ],
)
async def test_of_two_numbers_the_sort_code_is_paid_for_pounds_and_the_iban_for_all_else(
    rail: SandboxRail, tenant_id: UUID, destination: Destination, status: str
) -> None:
    order = of(tenant_id, currency=destination.currency)
    assert (await rail.pay_out(order, destination, "")).status == status


async def test_what_is_paid_is_what_is_verified(rail: SandboxRail) -> None:
    lost, found = BankVerdict("pending", "account_not_found"), BankVerdict("verified", "")
    inside = "GB73FRTH10880131926819"
    assert await rail.verify_bank_account(at("108800", inside)) == found
    assert await rail.verify_bank_account(at("108800", inside, "EUR")) == lost
    assert await rail.verify_bank_account(at(None, inside)) == lost


async def test_a_second_send_changes_nothing_and_gives_the_present_outcome(
    rail: SandboxRail, pool: Pool, clock: Hands, tenant_id: UUID
) -> None:
    order, payout = of(tenant_id), of(tenant_id)
    for number in (BROKE, WORKS, DISPUTED):
        assert await charge(rail, order, number) == Outcome("refused", "insufficient_funds")
    for sort_code in ("108804", "108800"):
        assert await pay(rail, payout, sort_code) == Outcome("pending")
    await rail.decide(tenant_id, payout.id, "done")
    assert await pay(rail, payout, "108804") == Outcome("done")
    assert await charge(rail, await charged(rail, tenant_id), DISPUTED) == Outcome("done")
    assert [row["version"] for row in await rows(pool, tenant_id)] == [1, 2, 1]
    clock.now += MINUTE
    assert await told(rail, tenant_id) == []


async def test_the_same_id_of_another_tenant_is_another_order(
    rail: SandboxRail, pool: Pool, tenant_id: UUID
) -> None:
    order = await charged(rail, tenant_id)
    other = await actions.found_tenant(Committer(pool), "Another shop")
    assert await rail.ask(Order(other, order.id, 500, "GBP")) == Outcome("unheard")
    with pytest.raises(OrderNotOpen, match="unheard"):
        await rail.decide(other, order.id, "refused")


async def test_a_challenge_lasts_until_the_cardholder_approves(
    rail: SandboxRail, tenant_id: UUID
) -> None:
    order = of(tenant_id)
    assert await charge(rail, order, ASKS) == Outcome("challenge")
    assert await charge(rail, order, ASKS) == Outcome("challenge")
    assert await charge(rail, order, ASKS, approved=True) == Outcome("done")
    assert await charge(rail, order, ASKS) == Outcome("done")
    assert await charge(rail, of(tenant_id), ASKS, approved=True) == Outcome("done")


@pytest.mark.parametrize("number", [BROKE, UNKNOWN])
async def test_an_approval_changes_nothing_but_a_challenge(
    rail: SandboxRail, tenant_id: UUID, number: str
) -> None:
    order = of(tenant_id)
    first = await charge(rail, order, number)
    assert first.status != "done"
    assert await charge(rail, order, number, approved=True) == first
    assert await charge(rail, of(tenant_id), number, approved=True) == first


async def test_a_refund_answers_as_the_charge_foretold(rail: SandboxRail, tenant_id: UUID) -> None:
    plain, kept = await charged(rail, tenant_id), await charged(rail, tenant_id, KEEPS)
    back, refused = of(tenant_id), of(tenant_id)
    assert await rail.refund(back, plain.id) == Outcome("done")
    assert await rail.refund(refused, kept.id) == Outcome("refused", "refund_refused")
    assert await rail.ask(back) == Outcome("done")
    assert await rail.ask(refused) == Outcome("refused", "refund_refused")


async def test_what_came_in_otherwise_can_always_be_given_back(
    rail: SandboxRail, tenant_id: UUID
) -> None:
    assert await rail.refund(of(tenant_id), new_id()) == Outcome("done")


async def test_refunds_together_never_exceed_the_charge(rail: SandboxRail, tenant_id: UUID) -> None:
    paid = await charged(rail, tenant_id)
    beyond = Outcome("refused", "exceeds_charge")
    first = of(tenant_id, 300)
    assert await rail.refund(first, paid.id) == Outcome("done")
    assert await rail.refund(first, paid.id) == Outcome("done")
    # What is refused gives nothing back, and so does not count.
    assert await rail.refund(of(tenant_id, 201), paid.id) == beyond
    assert await rail.refund(of(tenant_id, 200), paid.id) == Outcome("done")
    assert await rail.refund(of(tenant_id, 1), paid.id) == beyond


async def test_what_brought_nothing_cannot_be_refunded(rail: SandboxRail, tenant_id: UUID) -> None:
    beyond = Outcome("refused", "exceeds_charge")
    for number in (BROKE, UNKNOWN, ASKS):
        order = of(tenant_id)
        await charge(rail, order, number)
        assert await rail.refund(of(tenant_id, 1), order.id) == beyond
    payout, paid = of(tenant_id), await charged(rail, tenant_id)
    await pay(rail, payout)
    assert await rail.refund(of(tenant_id, 1), payout.id) == beyond
    assert await rail.refund(of(tenant_id, 1, "EUR"), paid.id) == beyond


async def test_what_is_recalled_before_it_is_heard_is_refused_when_it_comes(
    rail: SandboxRail, tenant_id: UUID
) -> None:
    order, payout, refund = of(tenant_id), of(tenant_id), of(tenant_id)
    for one in (order, payout, refund):
        assert await rail.recall(one) is True
        assert await rail.ask(one) == RECALLED
    assert await charge(rail, order) == RECALLED
    assert await pay(rail, payout) == RECALLED
    assert await rail.refund(refund, (await charged(rail, tenant_id)).id) == RECALLED


async def test_what_is_not_decided_can_be_recalled_for_good(
    rail: SandboxRail, tenant_id: UUID
) -> None:
    unknown, asked, pending = of(tenant_id), of(tenant_id), of(tenant_id)
    await charge(rail, unknown, UNKNOWN)
    await charge(rail, asked, ASKS)
    await pay(rail, pending, "108804")
    for order in (unknown, asked, pending):
        assert await rail.recall(order) is True
        assert await rail.recall(order) is True
        assert await rail.ask(order) == RECALLED
    assert await charge(rail, asked, ASKS, approved=True) == RECALLED


async def test_what_is_done_cannot_be_recalled_and_what_is_refused_need_not_be(
    rail: SandboxRail, tenant_id: UUID
) -> None:
    done, refused = await charged(rail, tenant_id), of(tenant_id)
    await charge(rail, refused, BROKE)
    assert await rail.recall(done) is False
    assert await rail.ask(done) == Outcome("done")
    assert await rail.recall(refused) is True
    assert await rail.ask(refused) == Outcome("refused", "insufficient_funds")


async def test_an_order_that_was_never_sent_is_unheard(rail: SandboxRail, tenant_id: UUID) -> None:
    assert await rail.ask(of(tenant_id)) == Outcome("unheard")


@pytest.mark.parametrize("status", ["done", "refused"])
async def test_the_sandbox_decides_what_is_open_once(
    rail: SandboxRail, tenant_id: UUID, status: Any
) -> None:
    order, payout = of(tenant_id), of(tenant_id)
    await charge(rail, order, UNKNOWN)
    await pay(rail, payout, "108804")
    for one in (order, payout):
        await rail.decide(tenant_id, one.id, "pending")
        await rail.decide(tenant_id, one.id, "unknown", "stalled")
        assert await rail.ask(one) == Outcome("unknown", "stalled")
        await rail.decide(tenant_id, one.id, status, "as_told")
        with pytest.raises(OrderNotOpen, match=status):
            await rail.decide(tenant_id, one.id, "pending")
        assert await rail.ask(one) == Outcome(status, "as_told")


async def test_what_is_challenged_recalled_or_unheard_is_not_decided(
    rail: SandboxRail, tenant_id: UUID
) -> None:
    asked, recalled, unheard = of(tenant_id), of(tenant_id), of(tenant_id)
    await charge(rail, asked, ASKS)
    await rail.recall(recalled)
    for order, outcome in (
        (asked, Outcome("challenge")),
        (recalled, RECALLED),
        (unheard, Outcome("unheard")),
    ):
        with pytest.raises(OrderNotOpen, match=outcome.status):
            await rail.decide(tenant_id, order.id, "done")
        assert await rail.ask(order) == outcome


async def test_what_the_rail_forgets_can_be_sent_anew(rail: SandboxRail, tenant_id: UUID) -> None:
    paid, back = await charged(rail, tenant_id), of(tenant_id)
    for _ in range(2):
        assert await rail.refund(back, paid.id) == Outcome("done")
        await rail.forget(tenant_id, back.id)
        assert await rail.ask(back) == Outcome("unheard")
    await rail.forget(tenant_id, paid.id)
    assert await rail.ask(paid) == Outcome("unheard")
    assert await charge(rail, paid, BROKE) == Outcome("refused", "insufficient_funds")
    await rail.forget(tenant_id, new_id())


async def test_a_refund_that_was_refused_frees_nothing_when_it_is_forgotten(
    rail: SandboxRail, tenant_id: UUID
) -> None:
    paid, beyond = await charged(rail, tenant_id), of(tenant_id, 501)
    await rail.refund(of(tenant_id), paid.id)
    assert (await rail.refund(beyond, paid.id)).status == "refused"
    await rail.forget(tenant_id, beyond.id)
    assert (await rail.refund(of(tenant_id, 1), paid.id)).status == "refused"


@pytest.mark.parametrize("currency", ["GBP", "EUR", "JPY"])
async def test_the_account_of_the_sandbox_could_exist(rail: SandboxRail, currency: str) -> None:
    account = await rail.receiving(currency)
    assert account is not None
    assert account == await rail.receiving(currency)
    assert account.currency == currency
    assert IBAN(account.iban or "", validate_bban=True).country_code == account.country == "GB"
    assert BIC(account.bic or "").country_code == "GB"
    numbers = (account.sort_code, account.account_number)
    assert numbers == (("108800", "31926819") if currency == "GBP" else (None, None))
    assert account.british == ("108800", "31926819")


async def test_the_disputed_card_disputes_the_whole_charge_a_minute_later(
    rail: SandboxRail, clock: Hands, tenant_id: UUID
) -> None:
    order = await charged(rail, tenant_id, DISPUTED)
    clock.now += MINUTE - timedelta(milliseconds=1)
    assert await charge(rail, order, DISPUTED) == Outcome("done")
    assert await told(rail, tenant_id) == []
    clock.now += timedelta(milliseconds=1)
    [dispute] = await told(rail, tenant_id)
    assert isinstance(dispute, Dispute)
    assert (dispute.order_id, dispute.amount) == (order.id, None)
    await rail.heard(dispute)
    clock.now += MINUTE
    assert await told(rail, tenant_id) == []


async def test_news_is_told_again_until_it_is_heard(
    rail: SandboxRail, neighbour: SandboxRail, clock: Hands, tenant_id: UUID
) -> None:
    later = Arrival(tenant_id, new_id(), 900, "GBP", "INV 7", "Ada")
    ended = DisputeEnd(tenant_id, new_id(), new_id(), 400, "lost")
    now = Dispute(tenant_id, new_id(), new_id(), 400, "not_received")
    await rail.tell(later, clock.now + MINUTE)
    await rail.tell(ended, clock.now - MINUTE)
    await rail.tell(now)
    assert await told(rail, tenant_id) == await told(neighbour, tenant_id) == [ended, now]
    clock.now += MINUTE
    await rail.tell(ended)
    assert await told(rail, tenant_id) == [ended, now, later]
    await asyncio.gather(neighbour.heard(ended), *(rail.heard(now) for _ in range(3)))
    await rail.tell(ended)
    assert await told(rail, tenant_id) == [later]


async def test_at_most_a_hundred_news_come_at_once_the_oldest_of_all_tenants_first(
    database: "Database", clock: Hands
) -> None:
    fresh = await database.create_current()
    pool = await open_pool(fresh.url, 4)
    try:
        committer = Committer(pool, clock=clock)
        rail = SandboxRail(pool, committer)
        tenants = [await actions.found_tenant(committer, name) for name in ("Shop", "Other")]
        news = [Arrival(tenants[n % 2], new_id(), 1, "GBP", "", "Ada") for n in range(102)]
        moments = [clock.now - timedelta(seconds=n) for n in range(102)]
        await asyncio.gather(*map(rail.tell, news, moments))
        assert await rail.news() == news[:1:-1]
        await asyncio.gather(*map(rail.heard, news[2:]))
        assert await rail.news() == news[1::-1]
    finally:
        pool.terminate()


async def test_forty_sends_of_one_order_are_one_order(
    rail: SandboxRail, pool: Pool, clock: Hands, tenant_id: UUID
) -> None:
    order = of(tenant_id)
    sends = [charge(rail, order, DISPUTED) for _ in range(40)]
    assert await asyncio.gather(*sends) == [Outcome("done")] * 40
    assert [row["version"] for row in await rows(pool, tenant_id)] == [1]
    clock.now += MINUTE
    assert len(await told(rail, tenant_id)) == 1


async def test_two_processes_that_race_agree_on_what_became_of_an_order(
    rail: SandboxRail, neighbour: SandboxRail, pool: Pool, tenant_id: UUID
) -> None:
    for _ in range(15):
        order = of(tenant_id)
        sends = [charge(one, order, n) for one, n in ((rail, WORKS), (neighbour, BROKE))]
        first, second = await asyncio.gather(*sends)
        assert first == second == await rail.ask(order)
    assert len(await rows(pool, tenant_id)) == 15


async def test_a_recall_that_races_with_the_order_is_true_only_if_it_won(
    rail: SandboxRail, neighbour: SandboxRail, tenant_id: UUID
) -> None:
    for _ in range(15):
        order = of(tenant_id)
        outcome, stopped = await asyncio.gather(pay(rail, order), neighbour.recall(order))
        assert outcome == await rail.ask(order) == (RECALLED if stopped else Outcome("done"))


async def test_refunds_that_race_never_exceed_the_charge(
    rail: SandboxRail, neighbour: SandboxRail, tenant_id: UUID
) -> None:
    paid = await charged(rail, tenant_id)
    racing = [
        one.refund(of(tenant_id, 90), paid.id) for _ in range(10) for one in (rail, neighbour)
    ]
    outcomes = await asyncio.gather(*racing)
    assert [one.status for one in outcomes].count("done") == 5


async def test_a_restart_forgets_nothing(
    rail: SandboxRail, database: "Database", clock: Hands, tenant_id: UUID
) -> None:
    done, asked, stopped = await charged(rail, tenant_id, DISPUTED), of(tenant_id), of(tenant_id)
    await charge(rail, asked, ASKS)
    await rail.recall(stopped)
    clock.now += MINUTE
    before = await told(rail, tenant_id)
    pool = await open_pool(database.url, 2)
    try:
        again = SandboxRail(pool, Committer(pool, clock=clock))
        assert await again.ask(done) == Outcome("done")
        assert await charge(again, asked, ASKS, approved=True) == Outcome("done")
        assert await charge(again, stopped) == RECALLED
        assert await again.refund(of(tenant_id, 501), done.id) != Outcome("done")
        assert await told(again, tenant_id) == before != []
    finally:
        pool.terminate()


async def test_no_number_suffix_or_destination_is_kept(
    rail: SandboxRail, database: "Database", tenant_id: UUID
) -> None:
    numbers = [magic.number for magic in MAGIC_CARDS]
    codes = [magic.sort_code for magic in MAGIC_SORT_CODES]
    for number in numbers:
        await charge(rail, of(tenant_id, 77), number)
    for code in codes:
        await pay(rail, of(tenant_id, 77), code)
    await rail.pay_out(of(tenant_id, 77), at(None, IBAN_OF_108804), "Thank you")
    kept = await database.fetch(
        "SELECT o::text AS said FROM sandbox_orders AS o WHERE tenant_id = $1 "
        "UNION ALL SELECT n::text FROM sandbox_news AS n WHERE tenant_id = $1",
        tenant_id,
    )
    assert len(kept) == len(numbers) + len(codes) + 2
    said = "\n".join(row["said"] for row in kept)
    # Four digits can be part of an id or of a time by chance.
    plain = re.sub(rf"{UUID_PATTERN}|\d{{4}}-\d\d-\d\d [\d:.+]+", "", said)
    secrets = [*(number[-4:] for number in numbers), *codes, "55779911", "31926819", "1249", "731"]
    assert [one for one in (*numbers, IBAN_OF_108804, "Thank you") if one in said] == []
    assert [one for one in secrets if one in plain] == []


async def test_without_its_memory_the_rail_is_away(database: "Database", tenant_id: UUID) -> None:
    lost = await open_pool(database.url, 2)
    rail = SandboxRail(lost, Committer(lost, clock=Hands()))
    await lost.close()
    order = of(tenant_id)
    for asked in (charge(rail, order), rail.recall(order), rail.ask(order), rail.news()):
        with pytest.raises(RailAway):
            await asked
