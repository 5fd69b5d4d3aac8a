"""What one does at a desk all day: trigger, resend, timeline, status, demo."""

import asyncio
import json
import re
from collections.abc import Iterator
from typing import cast

import pytest
from rich.console import Console
from tests.cli.conftest import Terminal
from tests.client.conftest import Running, Shop
from tests.resources.hooks import Receiver, receiving

from farthing.cli import shown
from farthing.cli.connection import Caller
from farthing.cli.exits import Exit
from farthing.cli.table import commands
from farthing.cli.trigger import controls
from farthing.core import ids
from farthing.dispatch import Dispatcher
from farthing.resources.deliveries import store
from farthing.resources.webhooks.actions import Courier

HOOK = "/hook"


@pytest.fixture
def receiver(running: Running) -> Iterator[Receiver]:
    opened = receiving()
    yield cast("Receiver", running.run(opened.__aenter__()))
    running.run(opened.__aexit__(None, None, None))


@pytest.fixture
def paid(farthing: Terminal) -> str:
    """Give a payment that arrived."""
    owner = farthing.ask("customers", "create", "--type", "INDIVIDUAL")["id"]
    account = farthing.ask("accounts", "create", "--owner", owner, "--currency", "GBP")["id"]
    reference = farthing.ask("references", "create", "--to", account)["reference"]
    words = ("--reference", reference, "--amount", "2500", "--currency", "GBP")
    return str(farthing.ask("trigger", "inbound", *words)["object"]["id"]).replace(
        "transaction", "tx"
    )


def deliver(running: Running, shop: Shop) -> None:
    """Do what the worker does for webhooks, until there is nothing to do for this shop.

    Other tests may have left webhooks that answer slowly, or never.
    """
    tenant, pool, clocks = ids.take(shop.id), running.service.pool, running.service.committer.clocks

    async def is_done() -> bool:
        now = clocks.machine()
        behind = [one for one, _ in await store.find_behind(pool, []) if one.tenant_id == tenant]
        due = await store.find_due_of(pool, tenant, now, 1)
        return not (behind or due or await store.is_under_way(pool, tenant, now))

    async def work() -> None:
        service = running.service
        dispatcher = Dispatcher(service.pool, service.committer, service.parts[Courier])
        while not await is_done():
            await dispatcher.dispatch()
            await asyncio.sleep(0.01)
        await dispatcher.close()

    running.run(work())


def test_everything_that_can_happen_to_an_object_can_be_triggered() -> None:
    told = {one.id for few in controls().values() for one in few}
    of_objects = {one.id for one in commands().values() if one.noun and one.id[:8] == "sandbox."}
    assert told == of_objects | {"sandbox.inbound"}
    assert len(told) > 10


def test_a_trigger_finds_the_operation_by_the_object(farthing: Terminal, paid: str) -> None:
    answer = farthing.ask("trigger", "dispute", paid, "--amount", "500")
    assert answer["object"]["stateId"] == "DISPUTED"
    assert farthing.ask("trigger", "win", paid)["object"]["stateId"] == "EFFECTED"
    owner = answer["object"]["toOwnerId"]
    words = ("--owner", owner, "--country", "GB", "--test-card", "asks-first")
    card = farthing.ask("cards", "create", *words)["id"]
    challenged = farthing.ask("trigger", "challenge", card, "--approve")
    assert challenged["object"]["stateId"] == "ENABLED"


def test_a_timeline_shows_everything_about_one_object_in_order(
    farthing: Terminal, running: Running, shop: Shop, receiver: Receiver, paid: str
) -> None:
    farthing("webhooks", "create", "--url", receiver.url(HOOK), "--event", "transaction.*")
    farthing("trigger", "dispute", paid, "--amount", "500")
    deliver(running, shop)
    found = farthing.ask("timeline", paid)
    assert [one["at"] for one in found] == sorted(one["at"] for one in found)
    assert {one["kind"] for one in found} == {
        *("request", "transition", "entry", "event", "delivery")
    }
    events = [one["what"] for one in found if one["kind"] == "event"]
    assert events[-1] == "transaction.disputed"
    assert "EFFECTED -> DISPUTED" in " ".join(one["what"] for one in found)
    (delivered,) = [one for one in found if one["kind"] == "delivery"]
    assert delivered["what"].startswith(f"transaction.disputed to {receiver.url(HOOK)}: 204 in")
    told = farthing("timeline", paid).out
    assert told.splitlines()[0].split() == ["at", "kind", "what", "id"]
    assert len(told.splitlines()) == len(found) + 1
    assert "set_aside: disputedDebits +GBP 5.00" in told
    assert "set_aside: disputedDebits +500" in [one["what"] for one in found]


def test_a_timeline_has_room_in_a_narrow_terminal(
    farthing: Terminal, paid: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shown, "console", lambda: Console(width=80))
    lines = farthing("timeline", paid).out.splitlines()
    assert max(map(len, lines)) <= 80
    # A day, and whole identifiers that can be copied.
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", lines[1].strip())
    (event, *_) = farthing.ask("events", "list", "--object", paid.replace("tx", "transaction"))[
        "results"
    ]
    assert event["id"] in [line.strip() for line in lines]


def test_a_customer_has_a_timeline_without_deliveries(farthing: Terminal, paid: str) -> None:
    owner = farthing.ask("tx", "get", paid)["toOwnerId"]
    kinds = {one["kind"] for one in farthing.ask("timeline", owner)}
    assert kinds == {"request", "transition", "event"}
    nobody = f"{owner[:-8]}00000000"
    assert "Next: `farthing customers list`" in farthing.run("timeline", nobody).err
    done = farthing.run("timeline", "voucher/1")
    assert (done.code, "Give an identifier" in done.err) == (Exit.USAGE, True)


def test_an_event_is_sent_again_to_every_webhook(
    farthing: Terminal, running: Running, shop: Shop, receiver: Receiver, paid: str
) -> None:
    event = farthing.ask("events", "list", "--object", paid.replace("tx/", "transaction/"))
    event_id = event["results"][0]["id"]
    done = farthing.run("resend", event_id)
    assert (done.code, "farthing webhooks create" in done.err) == (Exit.NOT_FOUND, True)
    done = farthing.run("resend", f"{event_id[:-8]}7fffffff")
    assert done.code == Exit.NOT_FOUND
    assert "Next: `farthing events list` shows what there is." in done.err
    words = ("--url", receiver.url(HOOK), "--event", "transaction.*")
    hook = farthing.ask("webhooks", "create", *words)["id"]
    assert f"{event_id} goes to {hook} once more." in farthing("resend", event_id).out
    deliver(running, shop)
    assert [one.headers["webhook-id"] for one in receiver.at(HOOK)] == [event_id]
    delivery = farthing.ask("webhooks", "deliveries", hook)["results"][0]["id"]
    farthing("resend", delivery, "--webhook", hook)
    deliver(running, shop)
    assert len(receiver.at(HOOK)) == 2
    farthing("resend", "--since", "2020-01-01T00:00:00Z", "--webhook", hook)
    deliver(running, shop)
    assert len(receiver.at(HOOK)) == 2 + len(event["results"])


@pytest.mark.parametrize(
    "words", [(), ("card/1",), ("delivery/1",), ("event/1", "--since", "2020-01-01")], ids=str
)
def test_resend_says_what_it_takes(farthing: Terminal, words: tuple[str, ...]) -> None:
    assert farthing.run("resend", *words).code == Exit.USAGE


def test_resend_says_where_to_find_what_it_takes(farthing: Terminal) -> None:
    event = "event/0190a1b2-c3d4-8e5f-8a9b-0c1d2e3f4a5b"
    done = farthing.run("resend", event, "--webhook", "mine")
    assert (done.code, "`farthing webhooks list` shows" in done.err) == (Exit.USAGE, True)
    done = farthing.run("resend", "event/mine")
    assert (done.code, "`farthing events list` shows" in done.err) == (Exit.USAGE, True)


def test_status_shows_every_part_and_what_to_do(farthing: Terminal, running: Running) -> None:
    # This service runs without a worker.
    done = farthing.run("status")
    assert done.code == Exit.UNAVAILABLE
    assert f"sandbox, at {running.url}" in done.out
    parts = {line.split()[0]: line.split()[1] for line in done.out.splitlines()[2:]}
    assert parts == {"api": "ok", "database": "ok", "worker": "degraded", "commitPath": "ok"}
    assert "farthing worker" in done.out
    assert json.loads(farthing.run("status", "--json").out)["components"]["api"]["status"] == "ok"


def test_status_asks_the_environment_of_the_key(
    farthing: Terminal, running: Running, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FARTHING_API_KEY", shop.key.replace("_sandbox_", "_live_"))
    monkeypatch.setenv("FARTHING_SANDBOX_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("FARTHING_LIVE_URL", running.url)
    assert f"at {running.url}" in farthing.run("status").out


def test_status_needs_no_key(
    farthing: Terminal, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    (farthing.home / "sandbox.json").unlink()
    monkeypatch.delenv("FARTHING_HOME")
    monkeypatch.setattr("farthing.cli.connection.DEFAULT_HOME", farthing.home)
    monkeypatch.setenv("FARTHING_SANDBOX_URL", running.url)
    assert f"at {running.url}" in farthing.run("status").out
    monkeypatch.setenv("FARTHING_SANDBOX_URL", f"{running.url}/docs")
    done = farthing.run("status")
    assert (done.code, "is no Farthing" in done.err) == (Exit.UNEXPECTED, True)
    monkeypatch.setenv("FARTHING_SANDBOX_URL", "nowhere")
    assert farthing.run("status").code == Exit.USAGE


def test_the_demo_leaves_a_day_worth_looking_at(farthing: Terminal) -> None:
    told = farthing("demo").out
    assert "8/8" in told
    states = {one["stateId"] for one in farthing.ask("tx", "list", "--tag", "demo")["results"]}
    assert states == {"EFFECTED", "DISPUTED", "FAILED", "CANCELLED", "ADJUSTED", "HELD"}
    assert "GBP 120.00  EFFECTED" in told
    look = told.split("Look at it:")[1].splitlines()
    following = [line.split()[1:] for line in look if line.startswith("  farthing")]
    assert len(following) > 4
    for words in following:
        if words != ["listen"]:
            assert farthing(*(one.strip("'") for one in words)).out


def test_what_the_demo_tells_to_look_at_is_where_it_played(farthing: Terminal) -> None:
    told = farthing("demo", "--home", str(farthing.home)).out
    look = [line for line in told.splitlines() if line.startswith("  farthing")]
    assert look
    assert all(line.endswith(f" --home {farthing.home}") for line in look)


def test_the_demo_refuses_a_live_key(farthing: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Caller, "is_sandbox", property(lambda _: False))
    done = farthing.run("demo")
    assert (done.code, "`farthing up` starts one" in done.err) == (Exit.USAGE, True)
