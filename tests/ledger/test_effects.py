"""Effects are pure: each returns a posting that balances, or none at all."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthing.core.ids import new_id
from farthing.ledger import effects
from farthing.ledger.balances import COUNTERS, Balance
from farthing.ledger.effects import Leg, Posting

PAYER, PAYEE = UUID(int=1), UUID(int=2)
AMOUNTS = st.integers(min_value=0, max_value=10**18 - 1)
TWO_SIDED = [
    effects.reserve,
    effects.release,
    effects.effect,
    effects.move,
    effects.set_aside,
    effects.give_back,
    effects.charge_back,
    effects.adjust,
]


def total(postings: list[Posting]) -> dict[tuple[UUID, str], int]:
    """Add up what postings do to each counter of each account."""
    sums: dict[tuple[UUID, str], int] = {}
    for posting in postings:
        for leg in posting.legs:
            for name in COUNTERS:
                key = (leg.account_id, name)
                sums[key] = sums.get(key, 0) + getattr(leg, name)
    return {key: value for key, value in sums.items() if value}


@pytest.mark.parametrize("effect", TWO_SIDED, ids=lambda effect: effect.__name__)
@given(amount=AMOUNTS)
def test_no_effect_makes_or_loses_money(effect: effects.TwoSided, amount: int) -> None:
    posting = effect(PAYER, PAYEE, amount)
    assert sum(leg.complete for leg in posting.legs) == 0
    assert posting.effect == effect.__name__


@given(amount=AMOUNTS)
def test_every_effect_has_its_opposite(amount: int) -> None:
    pair = PAYER, PAYEE, amount
    assert total([effects.reserve(*pair), effects.release(*pair)]) == {}
    assert total([effects.set_aside(*pair), effects.give_back(*pair)]) == {}
    assert total([effects.withhold(PAYER, amount), effects.let_go(PAYER, amount)]) == {}
    assert total([effects.move(*pair), effects.adjust(*pair)]) == {}


@given(amount=AMOUNTS)
def test_a_reserved_payment_that_is_completed_is_a_payment(amount: int) -> None:
    pair = PAYER, PAYEE, amount
    assert total([effects.reserve(*pair), effects.effect(*pair)]) == total([effects.move(*pair)])


@given(amount=AMOUNTS)
def test_a_lost_dispute_is_a_refund(amount: int) -> None:
    pair = PAYER, PAYEE, amount
    lost = total([effects.set_aside(*pair), effects.charge_back(*pair)])
    assert lost == total([effects.adjust(*pair)])


@given(
    st.lists(
        st.builds(
            Leg,
            account_id=st.uuids(),
            complete=st.integers(-5, 5),
            incomplete_debits=st.integers(-5, 5),
            disputed_credits=st.integers(-5, 5),
        ),
        max_size=4,
        unique_by=lambda leg: leg.account_id,
    )
)
def test_a_posting_that_does_not_balance_cannot_be_made(legs: list[Leg]) -> None:
    balanced = (
        sum(leg.complete for leg in legs) == 0
        and sum(leg.incomplete_debits for leg in legs) == 0
        and sum(leg.disputed_credits for leg in legs) == 0
    )
    if balanced:
        assert Posting("test", tuple(legs)).legs == tuple(legs)
    else:
        with pytest.raises(ValueError, match="do not balance"):
            Posting("test", tuple(legs))


def test_an_account_cannot_pay_itself() -> None:
    with pytest.raises(ValueError, match="two legs on one account"):
        effects.move(PAYER, PAYER, 1)


def test_available_is_what_is_complete_less_what_is_spoken_for() -> None:
    balance = Balance(new_id(), new_id(), 7, "GBP", "platform", 100, 1, 50, 20, 60, 5)
    assert balance.available == 100 - 1 - 20 - 5
