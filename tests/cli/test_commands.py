"""Commands are made from the operations: every one, every field, and nothing secret among them."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer
from tests.cli.conftest import Terminal

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools.client import __main__ as client_generator
from tools.commands import __main__ as generator

from farthing.cli import app, calling, completion, numbers, options
from farthing.cli.examples import example
from farthing.cli.exits import EXITS
from farthing.cli.table import FILE, Command, Field, commands
from farthing.rails.numbers import MAGIC_CARDS

if TYPE_CHECKING:
    from farthing.cli.asking import Typed
    from farthing.core.operation import Operation

ROOT = Path(__file__).parents[2]
OPERATIONS: tuple["Operation", ...] = client_generator.operations()
HEAVY = ("asyncpg", "starlette", "uvicorn", "structlog", "cryptography", "pycountry", "httpx2")


def command_at(*place: str) -> Any:
    """Find a command as the terminal does."""
    found: Any = typer.main.get_command(app)
    for word in place:
        found = found.get_command(typer.Context(found), word)
        assert found is not None, place
    return found


def options_of(command: Any) -> list[str]:
    return [name for one in command.params for name in (*one.opts, *one.secondary_opts)]


def test_the_table_is_what_the_operations_say() -> None:
    assert generator.text() == FILE.read_text("utf-8"), "run `make client`"


def test_every_operation_has_a_command() -> None:
    assert len(OPERATIONS) > 80
    assert [one.id for one in OPERATIONS] == list(commands())
    for operation in OPERATIONS:
        place = ("status",) if operation.id == "status.get" else commands()[operation.id].place
        told = command_at(*place).help
        if operation.id != "status.get":
            assert told.startswith(f"{operation.summary}.\n\nExample: farthing "), operation.id


@pytest.mark.parametrize("command", commands().values(), ids=lambda one: one.id)
def test_every_field_has_an_option_of_its_own(command: Command) -> None:
    if command.id == "status.get":
        return
    made = command_at(*command.place)
    found = options_of(made)
    assert len(found) == len(set(found))
    for field, names in options.names(command).items():
        if options.ARGUMENTS.get(command.id) == field.place[-1]:
            continue
        wanted = (numbers.file_option(field),) if field.is_secret else names
        assert set(wanted) <= set(found), field
    assert "--json" in found


@pytest.mark.parametrize("command", commands().values(), ids=lambda one: one.id)
def test_the_example_of_every_command_can_be_typed(
    farthing: Terminal, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    if command.id == "status.get":
        return
    asked: list[Typed] = []
    monkeypatch.setattr(calling, "call", lambda _, typed: asked.append(typed))
    farthing(*shlex.split(example(command))[1:])
    (typed,) = asked
    assert (typed.id is not None) == bool(command.noun)
    needed = {one for one in command.fields if one.is_required and not one.is_secret}
    filled = set(typed.fields) | (needed if typed.test_card else set())
    assert needed <= filled


@pytest.mark.parametrize("page", ["README.md", "docs/guides/command-line.md"])
def test_every_command_of_the_guides_can_be_typed(
    farthing: Terminal, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    asked: list[Typed] = []
    monkeypatch.setattr(calling, "call", lambda _, typed: asked.append(typed))
    lines = re.findall(r"^farthing .*", (ROOT / page).read_text("utf-8"), re.MULTILINE)
    groups = {*(one.place[0] for one in commands().values()), "trigger", "clock"} - {"tenants"}
    typed = [words for line in lines if (words := shlex.split(line, comments=True))[1] in groups]
    of_operations = [words for words in typed if words[1] != "status"]
    for words in of_operations:
        farthing(*words[1:])
    assert len(asked) == len(of_operations) > 0


def test_help_shows_one_name_of_each_option_and_its_choices_whole(farthing: Terminal) -> None:
    told = re.sub(r"[\s│]+", " ", farthing("tx", "move", "--help").out)
    assert "--to-state-id" not in told
    assert "To state id. One of PENDING, PROCESSING, HELD, EFFECTED, ADJUSTED, ERRORED" in told
    assert "--idempotency-key" in told
    assert "--idempotency-key" not in farthing("tx", "list", "--help").out
    assert "Transactions: inbound, outbound, internal" in farthing("--help").out
    assert "{TX|CARD}" in farthing("trigger", "challenge", "--help").out


def test_the_service_calls_them_transactions(farthing: Terminal) -> None:
    assert farthing("transactions", "list").out == farthing("tx", "list").out


def test_no_secret_can_stand_in_a_command() -> None:
    secret = {"--key", "--api-key", "--token", "--secret", "--password", "--card-number", "--cvv"}
    for command in commands().values():
        if command.id != "status.get":
            assert not secret & set(options_of(command_at(*command.place))), command.id
    looks_secret = re.compile(
        "secret|password|card_?number|cvv|pin$|api_?key|token$", re.IGNORECASE
    )
    for command in commands().values():
        for one in command.fields:
            assert one.is_secret == bool(looks_secret.search(one.place[-1])), one.place
    marked = {one.place[-1] for each in commands().values() for one in each.fields if one.is_secret}
    assert marked == {"cardNumber", "cvv"}


def test_the_words_that_one_types_are_short() -> None:
    said = {
        one.id: {".".join(field.place): names for field, names in options.names(one).items()}
        for one in commands().values()
    }
    assert said["cards.create"]["ownerId"][0] == "--owner"
    assert said["cards.create"]["billingAddress.countryISO"][0] == "--country"
    assert (
        "--billing-address-country-iso" in said["bank-accounts.create"]["billingAddress.countryISO"]
    )
    assert said["tx.move"]["toStateId"][0] == "--to"
    assert said["tx.move"]["options.adjustment.adjustmentAmount"][0] == "--adjust"


def test_a_field_whose_name_is_taken_gets_another() -> None:
    field = Field(place=("home",), part="body", kind="text")
    command = Command(id="x", place=("x",), constant="X", summary="X.", fields=[field])
    assert options.names(command) == {field: ("--body-home",)}


def test_every_card_of_the_sandbox_has_a_name() -> None:
    assert sorted(numbers.TEST_CARDS.values()) == sorted(card.number for card in MAGIC_CARDS)


@pytest.mark.parametrize("words", [("--help",), ("tx", "move", "--help"), ("up", "--help")])
def test_help_brings_nothing_of_the_server(words: tuple[str, ...]) -> None:
    script = (
        "import sys, farthing.cli\n"
        f"sys.argv = ['farthing', *{words}]\n"
        "try:\n    farthing.cli.main()\nexcept SystemExit: pass\n"
        f"print([one for one in {HEAVY} if one in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert "Usage" in done.stdout
    assert done.stderr.strip() == "[]"


def test_exit_codes_stand_in_the_help_and_in_the_guide(farthing: Terminal) -> None:
    told = re.sub(r"\s+", " ", farthing("--help").out)
    guide = (ROOT / "docs/guides/command-line.md").read_text("utf-8")
    for code, words in EXITS.items():
        assert f"{code.value} {words}" in told
        assert f"| {code.value} | {words} |" in guide


def complete(farthing: Terminal, monkeypatch: pytest.MonkeyPatch, line: str) -> list[str]:
    """Press the tabulator at the end of a line."""
    monkeypatch.setenv("_FARTHING_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    return farthing.run().out.split()


def test_states_commands_and_recent_objects_are_completed(
    farthing: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completion, "_SECONDS", 30.0)
    made = farthing.ask("customers", "create", "--type", "INDIVIDUAL", "--name", "Ada")["id"]
    assert complete(farthing, monkeypatch, "farthing tx mo") == ["move"]
    assert complete(farthing, monkeypatch, "farthing tx move tx/1 --to AD") == ["ADJUSTED"]
    assert complete(farthing, monkeypatch, "farthing trigger disp") == ["dispute"]
    assert made in complete(farthing, monkeypatch, "farthing customers get ")
    assert made in complete(farthing, monkeypatch, "farthing accounts create --owner ")
    assert made in complete(farthing, monkeypatch, "farthing tx list --as cust")
    assert made in complete(farthing, monkeypatch, "farthing timeline customer/")
    assert complete(farthing, monkeypatch, "farthing accounts create --owner card/") == []
    move = f"farthing customers move {made} --to "
    assert complete(farthing, monkeypatch, move) == ["DISABLED", "CLOSING"]
    (farthing.home / "sandbox.json").unlink()
    assert complete(farthing, monkeypatch, f"{move}T") == ["TERMINATED"]
    assert complete(farthing, monkeypatch, "farthing customers get ") == []
