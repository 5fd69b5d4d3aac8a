"""News that cannot be written down: nothing of it is lost, and nobody is asked about it all day."""

from typing import TYPE_CHECKING, Any

import pytest
from structlog.testing import capture_logs
from tests.resources.money import World

from farthing.core.ids import new_id
from farthing.rails.base import Dispute, DisputeEnd

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> "Iterator[pytest.MonkeyPatch]":
    """Let accounts hold next to nothing, until it is undone."""
    with monkeypatch.context() as patch:
        patch.setattr("farthing.ledger.postings._MOST", 500)
        yield patch


def refusals(logs: list[Any]) -> int:
    return len([one for one in logs if one["event"] == "refused"])


async def test_an_arrival_that_an_account_cannot_take_is_tried_after_longer_and_longer_pauses(
    world: World, full: pytest.MonkeyPatch
) -> None:
    account = await world.account()
    arrival = world.arrival(await world.reference(account), 1000)
    world.rail.tell(arrival)
    tries = 0
    with capture_logs() as logs:
        for pause in (0, 2, 4, 8, 16):
            # The rail tells it again every second, and it is not tried before its time.
            for _ in range(max(pause - 1, 0)):
                await world.later(seconds=1)
            assert refusals(logs) == tries
            await world.later(seconds=1)
            tries += 1
            assert refusals(logs) == tries
    assert world.rail.untold == [arrival]
    full.undo()
    await world.later(hours=1)
    assert world.rail.untold == []
    assert await world.available(account) == 1000


async def test_the_end_of_a_dispute_that_cannot_be_written_is_not_taken_for_heard(
    world: World, full: pytest.MonkeyPatch
) -> None:
    account = await world.account()
    tx = await world.charged(account, 400)
    assert (await world.refund(tx, 400)).status_code == 200
    await world.idle()
    end = DisputeEnd(world.tenant.id, new_id(), await world.order_of(tx), 1000, "decided")
    await world.hear(end)
    assert world.rail.untold == [end]
    full.undo()
    await world.later(hours=1)
    assert world.rail.untold == []


async def test_a_dispute_of_which_nothing_is_left_is_told_to_people(world: World) -> None:
    tx = await world.charged(await world.account(), 400)
    assert (await world.refund(tx, 400)).status_code == 200
    await world.idle()
    told = Dispute(world.tenant.id, new_id(), await world.order_of(tx), None, "fraudulent")
    for _ in range(2):
        await world.hear(told)
    assert (await world.events(tx))[-2:] == ["refunded", "dispute_not_opened"]
    # Its end is not held up by it: what the network takes is in the books.
    assert world.rail.untold == []
    await world.dispute_ended(tx, 100)
    assert world.rail.untold == []
