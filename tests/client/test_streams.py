"""The stream of events: each once and in order, also when the service goes and comes back."""

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.client.conftest import Maker, Running, Shop
from tests.client.test_calls import UNKNOWN, new_customer
from tests.client.test_retries import refusal, session

from farthing.client import AsyncFarthing, Retries, errors
from farthing.client._asks import Ask
from farthing.client._operations import EVENTS_STREAM
from farthing.client._steps import Broken, Found, Outcome, Reply, Send, Take
from farthing.client._streams import Follower

if TYPE_CHECKING:
    from tests.conftest import Database


@pytest.fixture
def own(database: "Database") -> Iterator[Running]:
    """Give a service that can be stopped without anybody else noticing."""
    started = Running(database)
    yield started
    started.close()


def end_of_log(client: Any) -> str:
    [*_, last] = client.events.list().pages()
    return str(last.next_cursor)


def test_a_stream_goes_on_across_restarts_and_tells_each_event_once(
    make: Maker, own: Running
) -> None:
    shop = own.new_shop()
    client = make(shop.key, base_url=own.url, retries=Retries(attempts=500, longest_pause=0.02))
    begin = end_of_log(client)
    stream = client.events.stream(after=begin, type="customer.*")
    made = [new_customer(client)]
    told = [next(stream)]
    for _ in range(2):
        made.append(new_customer(client))
        own.stop()
        own.start()
        made.append(new_customer(client))
        told += [next(stream), next(stream)]
    assert [one.object_id for one in told] == made
    assert [one.id for one in client.events.list(cursor=begin)] == [one.id for one in told]
    assert told[0].object.name == "Ada"
    last = stream.last_event_id
    stream.close()
    later = new_customer(client)
    again = client.events.stream(last_event_id=last)
    assert next(again).object_id == later
    again.close()


def test_a_stream_that_is_closed_ends(client: Any) -> None:
    begin = end_of_log(client)
    new_customer(client)
    stream = client.events.stream(after=begin)
    next(stream)
    stream.close()
    assert list(stream) == []


async def test_whoever_leaves_the_block_ends_the_stream(running: Running, shop: Shop) -> None:
    async with AsyncFarthing(shop.key, base_url=running.url) as client:
        [*_, last] = [page async for page in client.events.list().pages()]
        await client.customers.create(type="INDIVIDUAL")
        async with client.events.stream(after=last.next_cursor) as stream:
            async for event in stream:
                assert event.type == "customer.created"
                break
        assert [event async for event in stream] == []


def test_a_stream_from_nowhere_is_refused(client: Any) -> None:
    with pytest.raises(errors.ValidationFailed):
        next(client.events.stream(after="A" * 22))
    ada = new_customer(client)
    with pytest.raises(errors.Forbidden):
        next(client.for_customer(ada).events.stream())


def test_an_address_that_never_answered_is_given_up(make: Maker, shop: Shop) -> None:
    client = make(shop.key, base_url="http://127.0.0.1:9")
    with pytest.raises(errors.ConnectionFailed):
        next(client.events.stream())


def block(number: int, text: str = "") -> bytes:
    event = {"id": f"event/{number}", "type": "card.created", "createdAt": "", "objectId": "x/1"}
    data = msgspec.json.encode({**event, "objectVersion": 1, "data": {"text": text}})
    return b"id: event/%d\nevent: card.created\ndata: %s\n\n" % (number, data)


OPENED = Reply(200, {"content-type": "text/event-stream"}, b"")


def follow(
    *outcomes: Outcome, attempts: int = 5, customer: str | None = None
) -> tuple[list[Any], list[str | None]]:
    """Follow a stream that goes as told, to the last outcome; return events and resumptions."""
    waiting, found, resumed = list(outcomes), list[Any](), list[str | None]()
    caller = session(attempts=attempts)
    caller = caller if customer is None else caller.for_customer(customer)
    flow = Follower(caller, Ask(EVENTS_STREAM)).flow()
    step = next(flow)
    while True:
        outcome: Outcome = None
        if isinstance(step, Found):
            found.append(step.value)
        if isinstance(step, Send):
            resumed.append(step.headers.get("Last-Event-ID"))
        if isinstance(step, Send | Take):
            if not waiting:
                return found, resumed
            outcome = waiting.pop(0)
        step = flow.send(outcome)


@given(cut=st.lists(st.integers(0, 5000), max_size=6), line=st.sampled_from(["\n", "\r\n"]))
def test_a_stream_is_read_the_same_however_it_is_parted(cut: list[int], line: str) -> None:
    # Line separators of Unicode are text like any other, for the stream as for JSON.
    texts = ["one", "two\u2028\x85", "drei € 👛"]
    whole = b"retry: 1000\nid: event/0\n\n: still here\n\n"
    whole += b"".join(block(number, text) for number, text in enumerate(texts, 1))
    whole = whole.replace(b"\n", line.encode())
    places = [0, *sorted(one % len(whole) for one in cut), len(whole)]
    parts = [whole[begin:end] for begin, end in pairwise(places)]
    found, _ = follow(OPENED, *parts)
    assert [one.data["text"] for one in found] == texts


@pytest.mark.parametrize(
    "answer",
    [
        Reply(200, {"content-type": "text/html"}, b""),
        Reply(204, {}, b""),
        Reply(301, {"location": "https://pay.example/"}, b""),
    ],
)
def test_what_is_no_stream_is_not_come_back_to(answer: Reply) -> None:
    with pytest.raises(errors.UnexpectedAnswer, match=f"status {answer.status}"):
        follow(answer)
    with pytest.raises(errors.UnexpectedAnswer):
        follow(OPENED, block(1), None, answer)


def test_what_was_not_whole_is_read_again_from_the_last_that_was() -> None:
    half = block(2)[:-1]
    found, resumed = follow(OPENED, block(1) + half, None, OPENED, block(2), Broken("ReadError"))
    assert [one.id for one in found] == ["event/1", "event/2"]
    assert resumed == [None, "event/1", "event/2"]


def test_also_a_place_without_an_event_is_where_to_go_on() -> None:
    _, resumed = follow(OPENED, b"id: event/7\n\n", None)
    assert resumed == [None, "event/7"]


def test_a_stream_that_was_once_open_waits_as_long_as_it_takes() -> None:
    away: list[Outcome] = [refusal(503, "unavailable"), Broken("ConnectError")] * 10
    found, _ = follow(OPENED, None, *away, OPENED, block(1), attempts=2)
    assert [one.id for one in found] == ["event/1"]
    with pytest.raises(errors.Unavailable):
        follow(refusal(503, "unavailable"), refusal(503, "unavailable"), attempts=2)
    with pytest.raises(errors.Unauthenticated):
        follow(OPENED, None, refusal(401, "unauthenticated"))


def test_also_a_token_that_cannot_be_renewed_for_a_while_is_waited_for() -> None:
    token = Reply(201, {}, b'{"accessToken": "t", "expiresAt": "2100-01-01T00:00:00.000Z"}')
    revoked = refusal(401, "unauthenticated")
    found, _ = follow(
        *(token, OPENED, block(1), None, revoked),
        *(Broken("ConnectError"), refusal(503, "unavailable"), Broken("ConnectError")),
        *(token, OPENED, block(2)),
        attempts=2,
        customer=f"customer/{UNKNOWN}",
    )
    assert [one.id for one in found] == ["event/1", "event/2"]
