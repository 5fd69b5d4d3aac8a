"""A clock that is moved: what its tenant's webhooks did not take is sent again on the way."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from tests.resources.hooks import Got, World, world

from farthing.dispatch import Dispatcher
from farthing.resources.deliveries.model import MOST_JITTER, PAUSES

if TYPE_CHECKING:
    from tests.conftest import Database

NOBODY = "http://127.0.0.1:1/"


@pytest_asyncio.fixture
async def here(database: "Database", monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    # Machines are slow at times.
    monkeypatch.setattr("farthing.agenda._PATIENCE", 30)
    async with world(database) as opened:
        yield opened


async def advance(here: World, by: str) -> list[str]:
    """Move the clock, and return the types of the events on the way."""
    answer = await here.call("POST", "/v1/sandbox/clock", {"advance": by})
    assert answer["complete"]
    return [one["type"] for one in answer["events"]]


def pauses(delivery: dict[str, Any]) -> list[float]:
    """Return how long each attempt came after the one before it."""
    times = [datetime.fromisoformat(one["attemptedAt"]) for one in delivery["attempts"]]
    return [(later - earlier).total_seconds() for earlier, later in itertools.pairwise(times)]


async def test_retries_are_made_in_order_until_one_is_taken(here: World) -> None:
    answers = iter([500, 503, 404])

    async def better_and_better(_: Got) -> tuple[int, bytes]:
        return next(answers, 204), b""

    here.receiver.answers["/hook"] = better_and_better
    hook = await here.hook()
    customer = await here.customer()
    await here.deliver()
    await here.update(customer, 1)
    await here.deliver()
    assert len(here.receiver.got) == 1
    await advance(here, "P3D")
    first, second = await here.deliveries(hook)
    assert (first["status"], len(first["attempts"])) == ("delivered", 4)
    for pause, planned in zip(pauses(first), PAUSES, strict=False):
        seconds = planned.total_seconds()
        assert seconds <= pause <= seconds * (1 + MOST_JITTER) + 0.01
    # What stood behind it in the line followed at once.
    assert (second["status"], len(second["attempts"])) == ("delivered", 1)
    assert second["attempts"][0]["attemptedAt"] == first["attempts"][-1]["attemptedAt"]
    assert [one.event["objectVersion"] for one in here.receiver.got] == [1, 1, 1, 1, 2]


async def test_an_endpoint_that_is_dead_has_had_all_its_tries_after_four_days(here: World) -> None:
    hook = await here.hook(url=NOBODY)
    await here.customer()
    await here.deliver()
    assert await advance(here, "P4D") == ["webhook.failing"]
    assert await here.state(hook) == "FAILING"
    (delivery,) = await here.deliveries(hook)
    assert (delivery["status"], len(delivery["attempts"])) == ("failed", len(PAUSES) + 1)
    assert len(pauses(delivery)) == len(PAUSES)
    for pause, planned in zip(pauses(delivery), PAUSES, strict=True):
        assert pause >= planned.total_seconds()


async def test_an_endpoint_that_hangs_holds_a_clock_up_for_a_moment_only(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farthing.agenda._PATIENCE", 0.2)
    hook = await here.hook()
    here.receiver.says("/hook", 500)
    await here.customer()
    await here.deliver()
    moved = asyncio.Event()

    async def answer_late(_: Got) -> tuple[int, bytes]:
        await moved.wait()
        return 200, b""

    here.receiver.answers["/hook"] = answer_late
    async with asyncio.timeout(30):
        await advance(here, "P1D")
        await here.receiver.wait_for(2)
    # It goes on beside it, and nobody else sends it.
    await here.deliver()
    (under_way,) = await here.deliveries(hook)
    assert (under_way["status"], len(under_way["attempts"])) == ("waiting", 1)
    moved.set()
    await here.service.parts[Dispatcher].idle()
    (delivered,) = await here.deliveries(hook)
    assert (delivered["status"], len(delivered["attempts"])) == ("delivered", 2)
    assert len(here.receiver.got) == 2


async def test_what_a_worker_sends_at_the_same_time_is_waited_for(here: World) -> None:
    here.receiver.says("/hook", 500)
    hook = await here.hook()
    await here.customer()
    await here.deliver()
    stop = asyncio.Event()

    async def work() -> None:
        while not stop.is_set():
            await here.dispatcher.run()
            await asyncio.sleep(0)

    working = asyncio.create_task(work())
    await advance(here, "P1D")
    stop.set()
    await working
    (delivery,) = await here.deliveries(hook)
    # Five seconds, five and thirty minutes, two, five and ten hours: whoever makes the attempts.
    assert len(delivery["attempts"]) == 7
    assert len(here.receiver.got) == 7


async def test_what_is_new_is_left_to_the_worker(here: World) -> None:
    hook = await here.hook()
    await here.customer()
    await advance(here, "P1D")
    assert await here.deliveries(hook) == []
    await here.deliver()
    (delivered,) = await here.deliveries(hook)
    assert delivered["status"] == "delivered"


async def test_nobody_sends_what_is_under_way_when_the_clock_is_moved(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farthing.agenda._PATIENCE", 0.2)
    moved = asyncio.Event()

    async def answer_late(_: Got) -> tuple[int, bytes]:
        await moved.wait()
        return 200, b""

    here.receiver.answers["/hook"] = answer_late
    hook = await here.hook()
    await here.customer()
    await here.dispatcher.dispatch()
    async with asyncio.timeout(10):
        await here.receiver.wait_for(1)
    (under_way,) = await here.deliveries(hook)
    assert "nextAttemptAt" not in under_way
    await here.call("POST", "/v1/sandbox/clock", {"advance": "P1D"})
    other = here.another_worker()
    await other.dispatch()
    moved.set()
    await other.idle()
    await here.dispatcher.idle()
    await here.deliver()
    assert len(here.receiver.got) == 1
    (delivered,) = await here.deliveries(hook)
    assert delivered["status"] == "delivered"
    assert [one["number"] for one in delivered["attempts"]] == [1]
