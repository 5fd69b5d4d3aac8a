"""`farthing listen`, as a process beside a receiver: signed, in order, and nothing is missed."""

import json
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from rich.console import Console
from tests.cli.conftest import Terminal
from tests.client.conftest import EAGER, Running, Shop
from tests.resources.hooks import Got, Receiver, receiving

from farthing.cli import listen, shown
from farthing.cli.exits import Exit
from farthing.client import Farthing, Retries, verify_webhook

HOOK = "/hook"


@pytest.fixture
def receiver(running: Running) -> Iterator[Receiver]:
    opened = receiving()
    yield cast("Receiver", running.run(opened.__aenter__()))
    running.run(opened.__aexit__(None, None, None))


@pytest.fixture
def own(running: Running, shop: Shop) -> Iterator[Farthing]:
    with Farthing(shop.key, base_url=running.url, retries=EAGER) as client:
        yield client


class Listening:
    """A `farthing listen` that runs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.told = ""
        assert process.stderr is not None
        for line in process.stderr:
            self.told += line
            if "Ctrl-C stops it." in line:
                return
        pytest.fail(f"It ended before it listened: {self.told}")

    def lines(self, count: int) -> list[str]:
        assert self.process.stdout is not None
        return [self.process.stdout.readline() for _ in range(count)]

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(30) == 0


@contextmanager
def listening(home: Path, *words: str) -> Iterator[Listening]:
    command = (sys.executable, "-m", "farthing", "listen", *words)
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    environment = {**os.environ, "FARTHING_HOME": str(home)}
    with subprocess.Popen(command, env=environment, **pipes) as process:
        # Whoever waits for a line that never comes reads the end instead.
        patience = threading.Timer(60, process.kill)
        patience.start()
        try:
            yield Listening(process)
        finally:
            patience.cancel()
            process.kill()


def names(receiver: Receiver) -> list[str]:
    return [one.event["data"].get("name", "") for one in receiver.got]


def name(client: Farthing, *told: str) -> None:
    for one in told:
        client.customers.create(type="INDIVIDUAL", name=one)


def test_events_are_forwarded_signed_and_in_order_and_a_later_start_goes_on(
    home: Path, receiver: Receiver, own: Farthing
) -> None:
    name(own, "Before")
    target = ("--forward", receiver.url(HOOK))
    with listening(home, *target) as first:
        name(own, "Ada", "Bob")
        ada = first.lines(2)[0]
        first.stop()
    assert "customer.created" in ada
    assert "204 in" in ada
    assert names(receiver) == ["Ada", "Bob"]
    (kept,) = (home / "listen").glob("*.json")
    secret = json.loads(kept.read_text())["secret"]
    assert secret in first.told
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    for got in receiver.got:
        event = verify_webhook(got.body, got.headers, secret)
        assert got.headers["webhook-id"] == event.id
        assert event == own.events.get(event.id)

    name(own, "While away")
    with listening(home, *target) as second:
        name(own, "Carol")
        second.lines(2)
        second.stop()
    assert names(receiver) == ["Ada", "Bob", "While away", "Carol"]
    assert secret not in second.told


def test_what_happened_since_a_start_without_events_is_not_missed(
    home: Path, receiver: Receiver, own: Farthing
) -> None:
    target = ("--forward", receiver.url(HOOK))
    with listening(home, *target) as first:
        first.stop()
    name(own, "While away")
    with listening(home, *target) as second:
        second.lines(1)
        second.stop()
    assert names(receiver) == ["While away"]


def test_two_do_not_forward_to_one_receiver(farthing: Terminal) -> None:
    url = "http://127.0.0.1:1/hook"
    held = listen.Book(farthing.home, url).hold()
    done = farthing.run("listen", "--forward", url)
    assert (done.code, f"the process {os.getpid()}. Stop it" in done.err) == (Exit.FAILED, True)
    held.release()


def test_a_log_that_began_anew_says_what_to_do(farthing: Terminal, shop: Shop) -> None:
    book = listen.Book(farthing.home, "http://127.0.0.1:1/hook")
    book.memory.last_event_ids[shop.id] = "event/8e5a46a2-74b6-862e-8000-000000000099"
    book.write()
    done = farthing.run("listen", "--forward", book.memory.url)
    assert (done.code, "Say where with --since TIME." in done.err) == (Exit.FAILED, True)


def test_a_service_that_went_away_is_told_of(capsys: pytest.CaptureFixture[str]) -> None:
    patience = listen.Patience(first_pause=0)
    assert patience.pause(1) == 0
    assert capsys.readouterr().err == ""
    patience.pause(2)
    assert "does not answer" in capsys.readouterr().err


def test_a_line_has_room_in_a_narrow_terminal(
    own: Farthing, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shown, "console", lambda: Console(width=80))
    name(own, "Ada")
    *_, event = own.events.list()
    listen.show_event(event)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.endswith(f"  customer.created  {event.object_id}")
    assert len(line) <= 80


def test_several_receivers_are_remembered_beside_each_other(tmp_path: Path) -> None:
    first = listen.Book(tmp_path, "http://127.0.0.1:1/a")
    second = listen.Book(tmp_path, "http://127.0.0.1:1/b")
    first.memory.last_event_ids["customer/1"] = "event/1"
    first.write()
    second.write()
    again = listen.Book(tmp_path, "http://127.0.0.1:1/a")
    assert again.memory == first.memory
    assert again.memory.secret != second.memory.secret
    assert again.memory.secret not in repr(again.memory)


def test_a_receiver_that_stumbles_gets_it_again_before_anything_else(
    home: Path, receiver: Receiver, own: Farthing
) -> None:
    async def stumble(_: Got) -> tuple[int, bytes]:
        receiver.answers.pop(HOOK)
        return 500, b""

    receiver.answers[HOOK] = stumble
    with listening(home, "--forward", receiver.url(HOOK), "--type", "customer.*") as process:
        name(own, "Ada", "Bob")
        process.lines(2)
        process.stop()
    assert names(receiver) == ["Ada", "Ada", "Bob"]


def test_what_is_refused_again_and_again_is_passed_over(
    receiver: Receiver,
    own: Farthing,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(listen, "RETRIES", Retries(attempts=3, first_pause=0.001))
    name(own, "Ada")
    *_, event = own.events.list()
    receiver.says(HOOK, 422)
    with httpx2.Client() as http:
        forwarder = listen.Forwarder(receiver.url(HOOK), "whsec_c2VjcmV0", http)
        taken, came = forwarder.send(event)
    assert (taken, len(receiver.got)) == (False, 3)
    assert came.startswith("422 in ")
    assert came.endswith("given up after 3 attempts")
    assert capsys.readouterr().err.count("was not taken: 422") == 2


def test_without_a_receiver_events_are_only_shown(home: Path, own: Farthing) -> None:
    with listening(home, "--json", "--since", "2020-01-01T00:00:00Z") as process:
        founded = json.loads(process.lines(1)[0])
        name(own, "Ada")
        made = json.loads(process.lines(1)[0])
        process.stop()
    assert founded["type"] == "customer.created"
    assert made["data"]["name"] == "Ada"
    assert not (home / "listen").exists()


def test_the_operation_itself_streams_too(home: Path, own: Farthing) -> None:
    page = next(own.events.list(limit=1).pages())
    name(own, "Ada")
    command = (sys.executable, "-m", "farthing", "events", "stream", "--json", "--after")
    environment = {**os.environ, "FARTHING_HOME": str(home)}
    with subprocess.Popen(
        (*command, page.next_cursor), env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.kill()
    assert json.loads(line)["data"]["name"] == "Ada"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--forward", "localhost:3000"), "--forward takes an address with http:// in front, such"),
        (("--since", "yesterday"), "--since takes a time such as"),
    ],
    ids=str,
)
def test_what_cannot_be_read_is_said(
    farthing: Terminal, words: tuple[str, ...], sentence: str
) -> None:
    done = farthing.run("listen", *words)
    assert (done.code, sentence in done.err) == (Exit.USAGE, True)


def test_a_damaged_memory_says_what_to_do(farthing: Terminal) -> None:
    url = "http://127.0.0.1:1/hook"
    listen.Book(farthing.home, url).file.write_text("{")
    done = farthing.run("listen", "--forward", url)
    assert (done.code, "Take it away to begin anew" in done.err) == (Exit.FAILED, True)
