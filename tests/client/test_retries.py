"""Retries: nothing is done twice, whatever happens on the way."""

import pickle
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.client.conftest import EAGER, Maker, Running, Shop
from tests.client.test_calls import UNKNOWN, new_card, new_customer

from farthing.client import Farthing, Retries, _session, errors
from farthing.client._asks import Ask
from farthing.client._credentials import read
from farthing.client._operations import ACCOUNTS_LIST, CUSTOMERS_CREATE, CUSTOMERS_LIST
from farthing.client._retries import read_retry_after
from farthing.client._session import Session
from farthing.client._steps import Broken, Flow, Pause, Reply, Send

KEY = f"farthing_key_sandbox_{'A' * 64}"


def count(client: Any) -> int:
    return len(list(client.customers.list()))


@pytest.mark.parametrize("kind", ["rateLimited", "unavailable"])
def test_what_was_refused_for_a_moment_is_asked_again(client: Any, kind: str) -> None:
    before = count(client)
    client.sandbox.faults.arm(kind=kind, count=3)
    new_customer(client)
    assert client.sandbox.faults.list().results == []
    assert count(client) == before + 1


def test_a_write_whose_answer_was_cut_off_is_done_once(client: Any) -> None:
    before = count(client)
    client.sandbox.faults.arm(kind="cut", count=1)
    ada = new_customer(client)
    assert client.sandbox.faults.list().results == []
    assert count(client) == before + 1
    assert client.customers.get(ada).id == ada


def test_also_a_card_and_the_token_that_it_needs_are_made_once(client: Any) -> None:
    ada = new_customer(client)
    client.sandbox.faults.arm(kind="cut", count=1)
    client.sandbox.faults.arm(kind="unavailable", count=2)
    card = new_card(client.for_customer(ada), ada)
    assert [one.id for one in client.cards.list()] == [card.id]
    assert client.sandbox.faults.list().results == []


def test_after_the_last_attempt_the_last_answer_is_raised(make: Maker, shop: Shop) -> None:
    client = make(shop.key, retries=Retries(attempts=2, longest_pause=0))
    client.sandbox.faults.arm(kind="rateLimited", count=5)
    with pytest.raises(errors.RateLimited):
        new_customer(client)
    assert client.sandbox.faults.list().results[0].remaining == 3
    client.sandbox.faults.clear()
    client.sandbox.faults.arm(kind="unavailable", count=2)
    with pytest.raises(errors.Unavailable):
        new_customer(client)


def test_an_answer_that_is_always_cut_off_ends_in_an_exception(make: Maker, shop: Shop) -> None:
    client = make(shop.key, retries=Retries(attempts=1))
    client.sandbox.faults.arm(kind="cut", count=1)
    with pytest.raises(errors.ConnectionFailed) as caught:
        new_customer(client)
    # What httpx knows of the request, its body included, is not carried along.
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_whoever_was_given_up_can_be_called_again_with_the_same_key(
    make: Maker, shop: Shop
) -> None:
    client = make(shop.key, retries=Retries(attempts=1))
    before = count(client)
    client.sandbox.faults.arm(kind="cut", count=1)
    with pytest.raises(errors.ConnectionFailed) as caught:
        new_customer(client)
    key = pickle.loads(pickle.dumps(caught.value)).idempotency_key  # noqa: S301 - our own
    assert new_customer(client, idempotency_key=key)
    assert count(client) == before + 1
    with pytest.raises(errors.NotFound) as refused:
        client.customers.get(f"customer/{UNKNOWN}")
    assert refused.value.idempotency_key is None


def test_one_key_is_one_customer_also_for_two_calls(client: Any) -> None:
    first = new_customer(client, idempotency_key="order-1")
    assert new_customer(client, idempotency_key="order-1") == first
    with pytest.raises(errors.IdempotencyKeyReused):
        client.customers.create(type="SOLE_TRADER", idempotency_key="order-1")


def test_where_nobody_listens_it_says_so(make: Maker, shop: Shop) -> None:
    client = make(shop.key, base_url="http://127.0.0.1:9", retries=EAGER)
    with pytest.raises(errors.ConnectionFailed, match=r"ConnectError at http://127.0.0.1:9"):
        client.customers.get(shop.id)


def test_a_proxy_is_for_the_world_and_not_for_this_machine(
    make: Maker, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert make(shop.key).customers.get(shop.id).id == shop.id
    with pytest.raises(errors.ConnectionFailed, match=r"refused|attempts failed"):
        make(shop.key, base_url="http://farthing.invalid").status.get()


def test_what_takes_too_long_is_given_up(make: Maker, running: Running, shop: Shop) -> None:
    hasty = make(shop.key, timeout=0.05, retries=Retries(attempts=2, longest_pause=0))
    with Farthing(shop.key, base_url=running.url) as patient:
        patient.sandbox.faults.arm(kind="delay", count=2, milliseconds=1000)
        with pytest.raises(errors.ConnectionFailed, match="ReadTimeout"):
            hasty.customers.get(shop.id)


def session(**more: Any) -> Session:
    return Session("http://nowhere", read(KEY, sandbox=True), Retries(**more))


def play(flow: Flow[Any], *outcomes: Reply | Broken) -> tuple[list[Send], list[float], Any]:
    """Run a flow against outcomes; return what it sent, its pauses, and what came of it."""
    waiting, sent, pauses = list(outcomes), list[Send](), list[float]()
    step, outcome = next(flow), None
    while True:
        outcome = None
        if isinstance(step, Send):
            sent.append(step)
            outcome = waiting.pop(0)
        elif isinstance(step, Pause):
            pauses.append(step.seconds)
        try:
            step = flow.send(outcome)
        except StopIteration as end:
            return sent, pauses, end.value
        except errors.FarthingError as error:
            return sent, pauses, error


def refusal(status: int, code: str, **headers: str) -> Reply:
    problem = errors.Problem(status=status, code=code, detail="Not now.")
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, named, msgspec.json.encode(problem))


GOOD = Reply(200, {}, b"{}")


def test_every_attempt_of_a_write_has_the_same_key_and_every_write_another() -> None:
    keys = Counter[str]()
    for _ in range(2):
        cut, busy, away = Broken("Cut"), refusal(429, "rate_limited"), refusal(503, "unavailable")
        sent, pauses, _ = play(session().call(Ask(CUSTOMERS_CREATE)), cut, busy, away, GOOD)
        assert len(pauses) == 3
        keys.update(one.headers["Idempotency-Key"] for one in sent)
    assert sorted(keys.values()) == [4, 4]


def test_the_first_request_with_a_key_is_waited_for() -> None:
    running = refusal(409, "idempotency_in_progress", retry_after="1")
    sent, pauses, result = play(session().call(Ask(CUSTOMERS_CREATE)), running, GOOD)
    assert len(sent) == 2
    assert pauses[0] >= 1
    assert result is GOOD


def test_a_first_request_that_never_ends_is_not_waited_for_for_ever() -> None:
    running = [refusal(409, "idempotency_in_progress")] * 1000
    sent, _, result = play(session(attempts=1, patience=3).call(Ask(CUSTOMERS_CREATE)), *running)
    assert 3 <= len(sent) <= 31
    assert isinstance(result, errors.IdempotencyInProgress)


def test_a_token_that_cannot_be_had_is_asked_for_as_often_as_anything_else() -> None:
    cut, away = Broken("ConnectError"), refusal(503, "unavailable")
    sent, pauses, result = play(session(attempts=2).call(Ask(ACCOUNTS_LIST)), cut, away)
    assert {one.ask.operation.path for one in sent} == {"/v1/customers/{id}/tokens"}
    assert (len(sent), len(pauses)) == (2, 1)
    assert isinstance(result, errors.Unavailable)


@pytest.mark.parametrize(("seconds", "requests"), [(30, 2), (600, 1)])
def test_a_token_is_renewed_before_it_ends(seconds: int, requests: int) -> None:
    ends = (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat()
    issued = Reply(201, {}, msgspec.json.encode({"accessToken": "t", "expiresAt": ends}))
    caller = session()
    assert len(play(caller.call(Ask(ACCOUNTS_LIST)), issued, GOOD)[0]) == 2
    replies = [issued, GOOD][-requests:]
    assert len(play(caller.call(Ask(ACCOUNTS_LIST)), *replies)[0]) == requests


def test_not_more_tokens_are_kept_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_session, "_MOST_TOKENS", 2)
    issued = b'{"accessToken": "t%d", "expiresAt": "2100-01-01T00:00:00.000Z"}'
    caller = session()
    for number in (1, 2, 3, 3, 1):
        own = caller.for_customer(f"customer/0190a1b2-c3d4-7e5f-8a9b-00000000000{number}")
        known = own.tokens.find(str(own.customer)) is not None
        replies = [GOOD] if known else [Reply(201, {}, issued % number), GOOD]
        sent, _, _ = play(own.call(Ask(ACCOUNTS_LIST)), *replies)
        assert sent[-1].headers["X-Token"] == f"t{number}"
        # The first had to make room for the third.
        assert known == (number == 3 and len(sent) == 1)


@pytest.mark.parametrize("key", ["", "one\nX-Token: two", "\u20ac", " one", "one "])
def test_a_key_that_no_header_can_hold_is_refused_before_anything_is_sent(
    client: Any, key: str
) -> None:
    if key:
        with pytest.raises(ValueError, match="printable ASCII"):
            client.customers.create(type="INDIVIDUAL", idempotency_key=key)
    else:
        with pytest.raises(errors.ValidationFailed):
            client.customers.create(type="INDIVIDUAL", idempotency_key=key)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 500])
def test_what_would_be_answered_the_same_is_not_asked_again(status: int) -> None:
    sent, _, result = play(session().call(Ask(CUSTOMERS_CREATE)), refusal(status, "odd"))
    assert len(sent) == 1
    # A code that is newer than the client has no class, and its problem all the same.
    assert type(result) is errors.ApiError
    assert result.problem.code == "odd"


def test_a_gateway_that_tells_no_problem_is_asked_again_and_then_named() -> None:
    gateway = Reply(502, {}, b"<html>Bad Gateway</html>")
    sent, _, result = play(session(attempts=2).call(Ask(CUSTOMERS_LIST)), gateway, gateway)
    assert len(sent) == 2
    assert isinstance(result, errors.UnexpectedAnswer)
    assert "502" in str(result)


def test_whoever_is_sent_elsewhere_is_told_where() -> None:
    elsewhere = Reply(301, {"location": "https://pay.example/"}, b"")
    sent, _, result = play(session().call(Ask(CUSTOMERS_CREATE)), elsewhere)
    assert len(sent) == 1
    assert isinstance(result, errors.UnexpectedAnswer)
    assert "status 301, and leads to https://pay.example/." in str(result)


@given(failures=st.integers(1, 5000), asked=st.floats(0, 1e6))
def test_a_pause_is_as_long_as_asked_for_grows_and_has_an_end(failures: int, asked: float) -> None:
    policy = Retries(first_pause=0.5, longest_pause=30)
    pause = policy.pause(failures, asked)
    assert min(asked, 30) <= pause <= min(30, asked + 0.5 * 2.0 ** min(failures - 1, 30))


def test_pauses_differ_so_that_callers_do_not_come_back_together() -> None:
    assert len({Retries().pause(3) for _ in range(20)}) > 10


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        ("7", 7, 7),
        (None, 0, 0),
        ("soon", 0, 0),
        ("-1", 0, 0),
        ("Fri, 31 Dec 2100 23:59:59 GMT", 3600, float("inf")),
        ("Fri, 31 Dec 1999 23:59:59 -0000", 0, 0),
    ],
)
def test_a_retry_after_is_seconds_or_a_date(value: str | None, least: float, most: float) -> None:
    assert least <= read_retry_after(value) <= most


def test_there_is_one_attempt_at_least() -> None:
    with pytest.raises(ValueError, match="one attempt"):
        Retries(attempts=0)
