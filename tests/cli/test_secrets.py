"""Who calls, and with what: keys and card numbers come from anywhere but the command itself."""

import contextlib
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Terminal
from tests.client.conftest import Running, Shop

from farthing.cli import connection, numbers
from farthing.cli.exits import Exit

NUMBER = "4242424242424242"


def card(farthing: Terminal, ada: str, *words: str, stdin: str = "") -> Any:
    given = ("cards", "create", "--owner", ada, "--country", "GB", *words)
    return farthing.ask(*given, stdin=stdin)


def test_a_card_number_comes_from_a_file_standard_input_or_the_environment(
    farthing: Terminal, ada: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "number").write_text(f"{NUMBER}\n")
    (tmp_path / "cvv").write_text("123\n")
    files = (f"--card-number-file={tmp_path}/number", f"--cvv-file={tmp_path}/cvv")
    assert card(farthing, ada, "--expiry", "1230", *files)["cardNumberSuffix"] == "4242"
    both = ("--expiry", "1230", "--card-number-file=-", "--cvv-file=-")
    found = card(farthing, ada, *both, stdin="5555555555554444\n123\n")
    assert found["cardNumberSuffix"] == "4444"
    monkeypatch.setenv("FARTHING_CARD_NUMBER", NUMBER)
    monkeypatch.setenv("FARTHING_CVV", "123")
    assert card(farthing, ada, "--expiry", "1230")["cardNumberSuffix"] == "4242"


def test_a_card_number_is_asked_for_without_an_echo(
    farthing: Terminal, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return NUMBER if "number" in question else "123"

    monkeypatch.setattr(numbers, "getpass", answer)
    words = ("cards", "create", "--owner", ada, "--country", "GB", "--expiry", "1230")
    done = farthing.run(*words, "--json", attended=True)
    assert done.json["cardNumberSuffix"] == "4242"
    assert asked == [
        "The card number (it is not shown): ",
        "The cvv (it is not shown): ",
    ]


def test_a_missing_card_number_says_where_it_can_come_from(farthing: Terminal, ada: str) -> None:
    done = farthing.run("cards", "create", "--owner", ada, "--country", "GB")
    assert done.code == Exit.USAGE
    assert "--card-number-file (- is standard input) or in FARTHING_CARD_NUMBER" in done.err
    assert "--test-card visa" in done.err


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (("cards", "create", "--card-number", NUMBER), "--card-number-file, in FARTHING_CARD"),
        (("cards", "create", f"--card-number={NUMBER}"), "--card-number-file, in FARTHING_CARD"),
        (("cards", "create", "--cvv", "123"), "--cvv-file, in FARTHING_CVV"),
        (("tx", "list", "--api-key", NUMBER), "--key-file, in FARTHING_API_KEY"),
        (("demo", "--key", NUMBER), "--key-file, in FARTHING_API_KEY"),
    ],
    ids=lambda one: one[2] if isinstance(one, tuple) and len(one) > 2 else None,
)
def test_a_secret_in_a_command_is_refused_with_a_word_on_where_it_belongs(
    farthing: Terminal, words: tuple[str, ...], instead: str
) -> None:
    done = farthing.run(*words)
    assert (done.code, instead in done.err) == (Exit.USAGE, True), done.err
    assert NUMBER not in done.err


def test_a_wrong_number_is_told_under_the_option_that_there_is(
    farthing: Terminal, ada: str
) -> None:
    words = ("cards", "create", "--owner", ada, "--country", "GB", "--expiry", "1230")
    done = farthing.run(*words, "--card-number-file=-", "--cvv-file=-", stdin="4242\n123\n")
    assert (done.code, "  --card-number-file: Must be" in done.err) == (Exit.REFUSED, True)


def test_a_test_card_is_named_by_its_fate(farthing: Terminal, ada: str) -> None:
    assert card(farthing, ada, "--test-card", "visa")["stateId"] == "ENABLED"
    assert card(farthing, ada, "--test-card", "asks-first")["stateId"] == "PROCESSING"


def test_a_test_card_is_for_the_sandbox(farthing: Terminal, monkeypatch: Any) -> None:
    monkeypatch.setattr(connection.Caller, "is_sandbox", property(lambda _: False))
    done = farthing.run("cards", "create", "--test-card", "visa")
    assert (done.code, "this is a live key" in done.err) == (Exit.USAGE, True)


def test_a_customer_sees_its_own(farthing: Terminal, ada: str, account: str) -> None:
    bob = farthing.ask("customers", "create", "--type", "INDIVIDUAL")["id"]
    assert [one["id"] for one in farthing.ask("accounts", "list", "--as", ada)["results"]] == [
        account
    ]
    assert farthing.ask("accounts", "list", "--as", bob)["results"] == []


def test_what_is_of_the_house_takes_the_operators_key(farthing: Terminal, ada: str) -> None:
    made = farthing.ask("sandbox", "tenants", "create", "--name", "Throwaway")
    assert farthing.ask("sandbox", "tenants", "delete", made["id"], "--yes")["id"] == made["id"]
    assert farthing.ask("customers", "get", ada, "--operator")["id"] == ada


def test_the_key_comes_from_a_file_or_the_environment(
    farthing: Terminal, running: Running, shop: Shop, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.delenv("FARTHING_HOME")
    monkeypatch.setattr(connection, "DEFAULT_HOME", tmp_path / "none")
    monkeypatch.setenv("FARTHING_SANDBOX_URL", running.url)
    done = farthing.run("customers", "get", shop.id)
    assert done.code == Exit.NO_ACCESS
    assert "Start one with `farthing up`" in done.err
    monkeypatch.setattr(connection, "getpass", lambda _: shop.key)
    assert farthing.run("customers", "get", shop.id, attended=True).code == 0
    (tmp_path / "key").write_text(shop.key + "\n")
    assert farthing.ask("customers", "get", shop.id, "--key-file", str(tmp_path / "key"))
    assert farthing.ask("customers", "get", shop.id, "--key-file", "-", stdin=shop.key)
    monkeypatch.setenv("FARTHING_API_KEY", shop.key)
    assert farthing.ask("customers", "get", shop.id)["id"] == shop.id
    monkeypatch.setenv("FARTHING_API_KEY", shop.key.replace("_sandbox_", "_live_"))
    done = farthing.run("customers", "get", shop.id)
    assert (done.code, "FARTHING_LIVE_URL" in done.err) == (Exit.USAGE, True)
    monkeypatch.setenv("FARTHING_API_KEY", "nonsense")
    assert farthing.ask("customers", "get", shop.id, "--home", str(farthing.home))
    done = farthing.run("customers", "get", shop.id)
    assert (done.code, "nonsense" in done.err) == (Exit.USAGE, False)
    done = farthing.run("customers", "list", "--key-file", str(tmp_path / "nowhere"))
    assert (done.code, "cannot be read" in done.err) == (Exit.NO_ACCESS, True)


def test_a_key_is_asked_for_on_a_real_terminal_and_not_shown(
    running: Running, shop: Shop, tmp_path: Path
) -> None:
    ours, theirs = pty.openpty()
    # An own home for everything, so that no sandbox of this machine is found.
    environment = {"FARTHING_SANDBOX_URL": running.url, "HOME": str(tmp_path), "PATH": ""}
    command = (sys.executable, "-m", "farthing", "customers", "get", shop.id, "--json")
    with subprocess.Popen(
        command,
        env=environment | {"PYTHONPATH": os.environ.get("PYTHONPATH", "")},
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        shown = b""
        while b"(it is not shown): " not in shown:
            shown += os.read(ours, 1000)
        os.write(ours, f"{shop.key}\n".encode())
        out, _ = process.communicate(timeout=60)
    assert json.loads(out)["id"] == shop.id
    with contextlib.suppress(OSError):
        shown += os.read(ours, 1000)
    os.close(ours)
    assert shop.key.encode() not in shown


def test_where_nothing_runs_the_error_says_how_to_start_it(
    farthing: Terminal, tmp_path: Path
) -> None:
    file = farthing.home / "sandbox.json"
    sandbox = json.loads(file.read_text())
    file.write_text(json.dumps({**sandbox, "baseUrl": "http://127.0.0.1:1"}))
    for words in (("customers", "list"), ("status",)):
        done = farthing.run(*words)
        assert done.code == Exit.UNAVAILABLE
        assert "Nothing answers at http://127.0.0.1:1. Start one with `farthing up`" in done.err
    done = farthing.run("customers", "list", "--home", str(tmp_path / "new"))
    assert (done.code, f"no sandbox in {tmp_path / 'new'}" in done.err) == (Exit.NO_ACCESS, True)
    file.write_text("{")
    assert "missing or damaged" in farthing.run("customers", "list").err
