"""What mypy sees: this file is checked like any other, and most of it is never run."""

from collections.abc import AsyncIterator, Iterator
from typing import assert_type

from farthing.client import AsyncFarthing, AsyncListing, Farthing, Listing, models
from farthing.client.models import Address, Card, CardPage, Event, Rehearsal, Transaction

ADDRESS = Address(country_iso="GB")


def what_mypy_sees(client: Farthing) -> None:
    card = client.cards.create(
        owner_id="", card_number="", expiry="", cvv="", billing_address=ADDRESS
    )
    assert_type(card, Card)
    assert_type(card.billing_address, Address)
    assert_type(client.cards.list(), Listing[Card, CardPage])
    assert_type(iter(client.cards.list()), Iterator[Card])
    assert_type(client.cards.list().pages(), Iterator[CardPage])
    assert_type(client.for_customer(card.owner_id), Farthing)
    assert_type(client.transactions.move("", to_state_id="HELD"), Transaction)
    assert_type(client.transactions.move_dry_run("", to_state_id="HELD"), Rehearsal)
    assert_type(next(client.events.stream()), Event)
    assert_type(next(client.events.stream()).object, models.Object | None)
    # What is wrong is seen before it runs; an ignore that nothing needs would be an error.
    client.cards.create(owner_id="")  # type: ignore[call-arg]  # more must be given
    client.cards.get(7)  # type: ignore[arg-type]  # an identifier is a text
    client.transactions.move("", to_state_id="DISPUTED")  # type: ignore[arg-type]  # no such target
    client.cards.freeze("")  # type: ignore[attr-defined]  # no such operation
    _ = card.card_number  # type: ignore[attr-defined]  # it never comes back


async def what_mypy_sees_of_the_other(client: AsyncFarthing) -> None:
    assert_type(await client.cards.get(""), Card)
    assert_type(client.cards.list(), AsyncListing[Card, CardPage])
    assert_type(aiter(client.cards.list()), AsyncIterator[Card])
    assert_type(await anext(client.events.stream()), Event)
    assert_type(client.for_customer(""), AsyncFarthing)
    await client.cards.create(owner_id="")  # type: ignore[call-arg]  # more must be given


def test_the_types_are_there_when_the_program_runs() -> None:
    assert what_mypy_sees.__annotations__["client"] is Farthing
