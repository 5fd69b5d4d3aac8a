"""Calling operations from a terminal: what is sent, what is shown, and what is said if it fails."""

import json
import re
from pathlib import Path

import httpx2
import pytest
import typer
from tests.cli.conftest import Terminal
from tests.client.conftest import Running, Shop

from farthing.cli import connection
from farthing.cli.asking import Typed
from farthing.cli.calling import call
from farthing.cli.exits import EXITS, Exit, Failure
from farthing.cli.failures import refusal
from farthing.cli.table import Command, Field, commands
from farthing.client import Farthing
from farthing.client._asks import Ask
from farthing.client.errors import Problem
from farthing.core import errors
from farthing.core.errors import CATALOGUE

NOBODY = "customer/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"


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
    assert "Say --annotation as NAME=VALUE" in done.err


def test_json_is_exactly_what_the_service_answered(
    farthing: Terminal, running: Running, shop: Shop, ada: str
) -> None:
    with Farthing(shop.key, base_url=running.url) as client:
        token = client.tokens.issue(ada).access_token
    answer = httpx2.get(f"{running.url}/v1/customers/{ada}", headers={"X-Token": token})
    assert farthing("customers", "get", ada, "--json").out == answer.text.rstrip("\n") + "\n"


def test_people_see_tables(farthing: Terminal, ada: str) -> None:
    heading, *lines = farthing("customers", "list").out.splitlines()
    assert heading.split()[:4] == ["id", "name", "type", "state"]
    assert lines[0].split()[:4] == [ada, "Ada", "INDIVIDUAL", "ENABLED"]
    one = farthing("customers", "get", ada).out
    assert ["name", "Ada"] in [line.split() for line in one.splitlines()]
    assert farthing("webhooks", "list").out == "There is none.\n"


def test_a_page_says_how_to_go_on(farthing: Terminal, ada: str) -> None:
    first = farthing("customers", "list", "--limit", "1")
    assert ada in first.out
    assert len(first.out.splitlines()) == 2
    cursor = first.err.split("There are more: --all, or --cursor ")[1].strip()
    second = farthing("customers", "list", "--cursor", cursor)
    assert ada not in second.out
    assert second.err == ""


def test_all_pages_come_one_after_the_other(farthing: Terminal, ada: str, shop: Shop) -> None:
    words = ("customers", "list", "--all", "--limit", "1")
    told = farthing(*words)
    assert [line.split()[0] for line in told.out.splitlines()] == ["id", ada, shop.id]
    assert told.err == ""
    pages = [json.loads(line)["results"] for line in farthing(*words, "--json").out.splitlines()]
    assert [[one["id"] for one in page] for page in pages] == [[ada], [shop.id]]
    # The log of events has a cursor also where it ends.
    assert farthing("events", "list", "--all", "--limit", "1").out.count("customer.created") == 2


def test_names_cannot_drive_the_terminal(farthing: Terminal) -> None:
    words = ("customers", "create", "--type", "INDIVIDUAL", "--name", "[red]Ada\u202e")
    assert "[red]Ada " in farthing(*words).out


def test_an_identifier_is_taken_as_people_paste_it(farthing: Terminal, arrived: str) -> None:
    uuid = arrived.partition("/")[2]
    for said in (arrived, f"tx/{uuid}", uuid):
        assert farthing.ask("tx", "get", said)["id"] == arrived


def test_people_read_amounts_with_their_currency(
    farthing: Terminal, account: str, arrived: str
) -> None:
    assert "GBP 25.00" in farthing("tx", "list").out
    one = farthing("tx", "get", arrived).out
    assert ["amount", "GBP", "25.00"] in [line.split() for line in one.splitlines()]
    # The accounts were read for the currency alone.
    assert "accounts" not in one
    told = farthing("tx", "get", arrived, "--include", "accounts,entries").out
    assert "\naccounts\n" in told
    assert "completeBalance +GBP 25.00" in told
    assert farthing.ask("tx", "get", arrived)["amount"] == "2500"
    assert "GBP 25.00" in farthing("accounts", "list").out
    disputed = farthing("trigger", "dispute", arrived, "--amount", "500").out
    assert ["amount", "GBP", "25.00"] in [line.split() for line in disputed.splitlines()]
    assert farthing.ask("accounts", "get", account)["disputedDebits"] == "500"


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
    done = farthing.run("customers", "move", ada, "--to", "TERMINATED", "--dry-run", "--json")
    assert (done.code, done.json["stateId"]) == (Exit.CONFLICT, "ENABLED")
    done = farthing.run("customers", "move", ada, "--dry-run")
    assert (done.code, "Say with --to" in done.err) == (Exit.USAGE, True)
    assert farthing.ask("customers", "get", ada)["stateId"] == "ENABLED"
    assert farthing.ask("customers", "move", ada, "--to", "DISABLED")["stateId"] == "DISABLED"


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
    with pytest.raises(Failure, match="Say --then as JSON"):
        call(command, Typed(fields={then: "{"}, reach=reach))


def test_a_statement_comes_in_the_form_that_one_wants(farthing: Terminal, account: str) -> None:
    words = ("accounts", "statement", account)
    period = ("--from", "2026-01-01T00:00:00Z", "--to", "2026-02-01T00:00:00Z")
    assert farthing(*words, *period, "--format", "csv").out.startswith("line,accountId,number")
    assert farthing(*words, *period, "--format", "xml").out.startswith("<?xml")
    assert farthing(*words, *period, "--format", "json").json["closingBalance"] == "0"
    assert farthing.ask(*words, *period)["closingBalance"] == "0"
    assert "GBP 0.00" in farthing(*words, *period).out


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


def test_faults_of_a_query_and_of_an_argument_have_the_names_that_one_types(
    farthing: Terminal,
) -> None:
    assert "  --include: Must be" in farthing.run("tx", "list", "--include", "total").err
    assert "  ADVANCE: Must be" in farthing.run("clock", "advance", "3d").err
    words = ("rules", "test", "--on", "transaction.create", "--object", '{"amount": 5}')
    assert "  --object /currencyISO: Must be" in farthing.run(*words).err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("tx", "get", "x"), "The identifier must be tx/<uuid>. `farthing tx list` shows"),
        (("trigger", "win", NOBODY), "The identifier must be tx/<uuid>. `farthing tx list` shows"),
        (("tx", "list", "--as", "x"), "--as: The identifier must be customer/<uuid>. `farthing"),
        (("custmers",), "There is no command `farthing custmers`. Did you mean `customers`?"),
        (("tx", "lst"), "There is no command `farthing tx lst`. Did you mean `list`?"),
        (("trigger", "disput"), "Did you mean `dispute`? `farthing trigger --help` lists"),
    ],
    ids=str,
)
def test_a_wrong_word_leads_to_the_right_one(
    farthing: Terminal, words: tuple[str, ...], sentence: str
) -> None:
    done = farthing.run(*words)
    assert (done.code, sentence in done.err) == (Exit.USAGE, True), done.err


def test_a_step_that_is_not_possible_is_told_once(farthing: Terminal, arrived: str) -> None:
    done = farthing.run("tx", "move", arrived, "--to", "PENDING")
    assert done.code == Exit.CONFLICT
    assert done.err.count("EFFECTED") == 1
    assert "Next: `farthing tx transitions tx/...` shows where it can go" in done.err
    done = farthing.run("trigger", "settle", arrived)
    assert "Next: `farthing tx transitions tx/...`" in done.err
    assert "nothing from here" not in farthing("tx", "transitions", arrived).out
    farthing("trigger", "dispute", arrived)
    assert "nothing from here" in farthing("tx", "transitions", arrived).out


def test_what_has_no_way_back_is_asked_for_first(
    farthing: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--url", "http://127.0.0.1:1/", "--event", "transaction.*")
    hook = farthing.ask("webhooks", "create", *words)["id"]
    done = farthing.run("webhooks", "delete", hook)
    assert (done.code, "Say --yes" in done.err) == (Exit.USAGE, True)
    asked: list[str] = []
    monkeypatch.setattr(typer, "confirm", lambda text, **_: asked.append(text))
    assert farthing.run("webhooks", "delete", hook, attended=True).code == 0
    assert hook in asked[0]
    hook = farthing.ask("webhooks", "create", *words)["id"]
    assert farthing.ask("webhooks", "delete", hook, "--yes")["stateId"] == "DELETED"


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
    bare = farthing.run(
        *("tx", "outbound", "--account", account, "--amount", "999999", "--method"),
        *("bankAccount", "--purpose", "WITHDRAWAL"),
    )
    assert bare.code == Exit.REFUSED
    assert "  --payment-instrument: " in bare.err


def test_the_clock_is_moved_by_a_word(farthing: Terminal) -> None:
    before = farthing.ask("clock", "get")["now"]
    assert farthing.ask("clock", "advance", "P3D")["complete"] is True
    assert farthing.ask("sandbox", "clock", "get")["now"] > before
