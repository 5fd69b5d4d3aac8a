"""Calling operations from a terminal: what is sent, what is shown, and what is said if it fails."""

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.cli.conftest import Terminal
from tests.client.conftest import Running, Shop

from farthing.cli import connection, numbers
from farthing.cli.calling import Typed, call
from farthing.cli.exits import EXITS, Exit
from farthing.cli.failures import refusal
from farthing.cli.table import Command, Field, commands
from farthing.client import Farthing
from farthing.client._asks import Ask
from farthing.client.errors import Problem
from farthing.core import errors
from farthing.core.errors import CATALOGUE

NOBODY = "customer/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
NUMBER = "4242424242424242"


@pytest.fixture
def ada(farthing: Terminal) -> str:
    made = farthing.ask("customers", "create", "--type", "INDIVIDUAL", "--name", "Ada")
    return str(made["id"])


@pytest.fixture
def account(farthing: Terminal, ada: str) -> str:
    return str(farthing.ask("accounts", "create", "--owner", ada, "--currency", "GBP")["id"])


def card(farthing: Terminal, ada: str, *words: str, stdin: str = "") -> Any:
    given = ("cards", "create", "--owner", ada, "--country", "GB", *words)
    return farthing.ask(*given, stdin=stdin)


@pytest.fixture
def arrived(farthing: Terminal, account: str) -> str:
    """Give a transaction that is EFFECTED."""
    reference = farthing.ask("references", "create", "--to", account)["reference"]
    words = ("--reference", reference, "--amount", "2500", "--currency", "GBP")
    return str(farthing.ask("sandbox", "inbound", *words)["object"]["id"])


def test_lists_and_maps_are_repeated(farthing: Terminal) -> None:
    made = farthing.ask(
        *("customers", "create", "--type", "INDIVIDUAL", "--tag", "a", "--tag", "b"),
        *("--annotation", "plan=gold=24", "--annotation", "x="),
    )
    assert made["tags"] == ["a", "b"]
    assert made["annotations"] == {"plan": "gold=24", "x": ""}
    assert farthing.ask("customers", "list", "--annotation", "plan=gold=24")["results"] == [made]
    done = farthing.run("customers", "create", "--type", "INDIVIDUAL", "--annotation", "plan")
    assert done.code == Exit.USAGE
    assert "Say annotations as NAME=VALUE." in done.err


def test_json_is_exactly_what_the_service_answered(
    farthing: Terminal, running: Running, shop: Shop, ada: str
) -> None:
    with Farthing(shop.key, base_url=running.url) as client:
        token = client.tokens.issue(ada).access_token
    import httpx2  # noqa: PLC0415 - to ask without any of our own code

    answer = httpx2.get(f"{running.url}/v1/customers/{ada}", headers={"X-Token": token})
    assert farthing("customers", "get", ada, "--json").out == answer.text.rstrip("\n") + "\n"


def test_people_see_tables(farthing: Terminal, ada: str) -> None:
    heading, *lines = farthing("customers", "list").out.splitlines()
    assert heading.split()[:4] == ["id", "name", "type", "stateId"]
    assert lines[0].split()[:4] == [ada, "Ada", "INDIVIDUAL", "ENABLED"]
    one = farthing("customers", "get", ada).out
    assert ["name", "Ada"] in [line.split() for line in one.splitlines()]
    assert farthing("webhooks", "list").out == "There is none.\n"


def test_a_page_says_how_to_go_on(farthing: Terminal, ada: str) -> None:
    first = farthing("customers", "list", "--limit", "1").out
    assert ada in first
    cursor = first.split("There are more: --cursor ")[1].strip()
    second = farthing("customers", "list", "--cursor", cursor).out
    assert ada not in second
    assert "There are more" not in second


def test_names_cannot_drive_the_terminal(farthing: Terminal) -> None:
    words = ("customers", "create", "--type", "INDIVIDUAL", "--name", "[red]Ada\u202e")
    assert "[red]Ada " in farthing(*words).out


def test_an_identifier_is_taken_as_people_paste_it(farthing: Terminal, arrived: str) -> None:
    uuid = arrived.partition("/")[2]
    for said in (arrived, f"tx/{uuid}", uuid):
        assert farthing.ask("tx", "get", said)["id"] == arrived


def test_a_transition_is_rehearsed_and_then_made(farthing: Terminal, arrived: str) -> None:
    move = ("tx", "move", arrived, "--to", "ADJUSTED", "--adjust", "1000")
    rehearsed = farthing.ask(*move, "--dry-run")
    assert (rehearsed["dryRun"], rehearsed["path"]) == (True, ["EFFECTED", "ADJUSTED"])
    assert farthing.ask("tx", "get", arrived)["stateId"] == "EFFECTED"
    assert farthing.ask(*move)["adjustments"][0]["amount"] == "1000"


def test_other_moves_are_rehearsed_by_what_is_possible(farthing: Terminal, ada: str) -> None:
    told = farthing("customers", "move", ada, "--to", "DISABLED", "--dry-run").out
    assert told == (
        "ENABLED -> DISABLED: The client puts the customer on hold. Nothing was changed.\n"
    )
    done = farthing.run("customers", "move", ada, "--to", "TERMINATED", "--dry-run")
    assert done.code == Exit.CONFLICT
    assert "cannot go to TERMINATED. From here it can go to: DISABLED, CLOSING." in done.err
    assert farthing.ask("customers", "get", ada)["stateId"] == "ENABLED"
    assert farthing.ask("customers", "move", ada, "--to", "DISABLED")["stateId"] == "DISABLED"


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


def test_a_test_card_is_named_by_its_fate(farthing: Terminal, ada: str) -> None:
    assert card(farthing, ada, "--test-card", "visa")["stateId"] == "ENABLED"
    assert card(farthing, ada, "--test-card", "asks-first")["stateId"] == "PROCESSING"


def test_a_test_card_is_for_the_sandbox(farthing: Terminal, monkeypatch: Any) -> None:
    monkeypatch.setattr(connection.Caller, "is_sandbox", property(lambda _: False))
    done = farthing.run("cards", "create", "--test-card", "visa")
    assert (done.code, "this is a live key" in done.err) == (Exit.USAGE, True)


def test_a_body_comes_from_a_file_and_options_go_before_it(
    farthing: Terminal, tmp_path: Path
) -> None:
    body = {"type": "INDIVIDUAL", "name": "Bob", "address": {"countryISO": "GB"}}
    words = ("customers", "create", "--name", "Ada", "--town-city", "Bath")
    made = farthing.ask(*words, "--body", "-", stdin=json.dumps(body))
    assert made["name"] == "Ada"
    assert made["address"] == {"townCity": "Bath", "countryISO": "GB"}
    for text in ("[]", "{", "\N{EM DASH}"):
        (tmp_path / "body").write_text(text)
        done = farthing.run(*words, "--body", str(tmp_path / "body"))
        assert (done.code, "must be one JSON object" in done.err) == (Exit.USAGE, True)


def test_what_has_no_words_of_its_own_is_said_as_json(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Ask] = []

    def record(_: object, ask: Ask) -> bytes:
        asked.append(ask)
        return b'{"id":"x"}'

    monkeypatch.setattr(connection.Caller, "ask", record)
    then = Field(place=("then",), part="body", kind="json")
    given = {"id": "x", "place": ("x",), "constant": "CUSTOMERS_CREATE", "summary": "X."}
    command = Command(**given, fields=[then])  # type: ignore[arg-type]  # a mapping has one type
    reach = connection.Reach(home=home)
    call(command, Typed(fields={then: '{"do": ["block"]}'}, reach=reach))
    assert asked[0].body == {"then": {"do": ["block"]}}
    assert capsys.readouterr().out.split() == ["id", "x"]
    with pytest.raises(typer.BadParameter, match="as JSON"):
        call(command, Typed(fields={then: "{"}, reach=reach))


def test_a_statement_comes_in_the_form_that_one_wants(farthing: Terminal, account: str) -> None:
    words = ("accounts", "statement", account)
    period = ("--from", "2026-01-01T00:00:00Z", "--to", "2026-02-01T00:00:00Z")
    assert farthing(*words, *period, "--format", "csv").out.startswith("line,accountId,number")
    assert farthing(*words, *period, "--format", "xml").out.startswith("<?xml")
    assert farthing.ask(*words, *period)["closingBalance"] == "0"


def test_the_same_key_does_it_once(farthing: Terminal) -> None:
    words = ("customers", "create", "--type", "INDIVIDUAL", "--idempotency-key", "signup-17")
    assert farthing.ask(*words) == farthing.ask(*words)
    done = farthing.run(*words, "--name", "Other")
    assert done.code == Exit.REFUSED
    assert "Next: Leave --idempotency-key out, or give a new one." in done.err


def test_faults_are_told_under_the_names_of_the_options(farthing: Terminal) -> None:
    done = farthing.run("accounts", "create", "--owner", "Ada")
    assert done.code == Exit.REFUSED
    assert done.out == ""
    assert "  --owner: Must be customer/<uuid>" in done.err
    assert "  --currency: " in done.err
    assert "Next: `farthing accounts create --help`" in done.err
    assert "Request req-" in done.err


@pytest.mark.parametrize("problem", CATALOGUE.values(), ids=lambda one: one.code)
def test_every_error_says_what_to_do_next(problem: type[errors.Problem]) -> None:
    told = Problem(status=problem.status, code=problem.code, detail="No.", request_id="req-1")
    failure = refusal(commands()["cards.create"], told, as_json=False)
    assert re.search(r"^Next: .*\.$", str(failure), re.MULTILINE)
    assert failure.exit in EXITS


def test_machines_get_the_problem_as_json(farthing: Terminal) -> None:
    done = farthing.run("customers", "get", NOBODY, "--json")
    assert done.code == Exit.NOT_FOUND
    assert json.loads(done.err)["code"] == "not_found"


def test_each_kind_of_failure_has_its_exit_code(
    farthing: Terminal, ada: str, account: str, arrived: str
) -> None:
    far = farthing.run
    assert far("customers", "get", NOBODY).code == Exit.NOT_FOUND
    assert far("customers", "get", "Ada").code == Exit.USAGE
    assert far("customers", "fetch").code == Exit.USAGE
    assert far("webhooks", "list", "--as", ada).code == Exit.NO_ACCESS
    assert far("tx", "move", arrived, "--to", "PENDING").code == Exit.CONFLICT
    short = farthing.run(
        *("tx", "outbound", "--account", account, "--amount", "999999", "--method"),
        *("bankAccount", "--purpose", "WITHDRAWAL"),
    )
    assert short.code in {Exit.CONFLICT, Exit.REFUSED}


def test_a_customer_sees_its_own(farthing: Terminal, ada: str, account: str) -> None:
    bob = farthing.ask("customers", "create", "--type", "INDIVIDUAL")["id"]
    assert [one["id"] for one in farthing.ask("accounts", "list", "--as", ada)["results"]] == [
        account
    ]
    assert farthing.ask("accounts", "list", "--as", bob)["results"] == []


def test_what_is_of_the_house_takes_the_operators_key(farthing: Terminal, ada: str) -> None:
    made = farthing.ask("sandbox", "tenants", "create", "--name", "Throwaway")
    assert farthing.ask("sandbox", "tenants", "delete", made["id"])["id"] == made["id"]
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


def test_the_clock_is_moved_by_a_word(farthing: Terminal) -> None:
    before = farthing.ask("clock", "get")["now"]
    assert farthing.ask("clock", "advance", "P3D")["complete"] is True
    assert farthing.ask("sandbox", "clock", "get")["now"] > before
