"""The options of a command that is made from an operation: each field one, each state a choice."""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from farthing.cli import options
from farthing.cli.completion import possible, recent
from farthing.cli.nouns import spoken
from farthing.cli.numbers import TEST_CARDS, file_option, variable
from farthing.cli.options import ARGUMENTS
from farthing.cli.table import Command, Field

Parameters = dict[str, tuple[Any, Any]]
Complete = Callable[[typer.Context, str], list[tuple[str, str]]]

_TYPES: Final[dict[str, Any]] = {
    "number": int,
    "flag": bool,
    "list": list[str],
    "map": list[str],
}
_WHO: Final = "Who calls, and where"
# Whose identifier a field takes.
_NOUNS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("ownerId", "fromId"), ("customer",)),
    **dict.fromkeys(("accountId", "fromAccountId", "toAccountId", "toId"), ("account",)),
    "paymentInstrumentId": ("card", "bank_account"),
    "objectId": ("transaction",),
    "ruleId": ("rule",),
}


def complete_id(*nouns: str, in_path: bool = True) -> Complete:
    """Return what completes an identifier of these nouns."""

    def complete(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
        return recent(nouns, ctx.params, incomplete, in_path=in_path)

    return complete


# What every command has for itself.
REACH: Final[Mapping[str, tuple[Any, Any]]] = {
    "customer": (
        Annotated[
            str | None,
            typer.Option(
                "--as",
                help="Call as this customer.",
                rich_help_panel=_WHO,
                autocompletion=complete_id("customer"),
            ),
        ],
        None,
    ),
    "operator": (
        Annotated[
            bool,
            typer.Option(
                "--operator",
                help="Call with the operator's key of the local sandbox.",
                rich_help_panel=_WHO,
            ),
        ],
        False,
    ),
    "tenant": (
        Annotated[
            str | None,
            typer.Option(help="With an operator's key: in this tenant.", rich_help_panel=_WHO),
        ],
        None,
    ),
    "key_file": (
        Annotated[
            Path | None,
            typer.Option(
                help="A file with the key, - for standard input; otherwise FARTHING_API_KEY, or "
                "the local sandbox.",
                rich_help_panel=_WHO,
            ),
        ],
        None,
    ),
    "home": (
        Annotated[
            Path | None,
            typer.Option(
                help="The home of a local sandbox; otherwise FARTHING_HOME.", rich_help_panel=_WHO
            ),
        ],
        None,
    ),
}
JSON: Final = (
    Annotated[bool, typer.Option("--json", help="Print exactly what the service answered.")],
    False,
)


def parameters_of(command: Command, nouns: tuple[str, ...] = ()) -> Parameters:
    """Return the parameters of an operation's command, on objects of its noun or of several."""
    found: Parameters = {}
    if command.noun:
        found["id"] = (_id_argument(nouns or (command.noun,)), inspect.Parameter.empty)
    named = options.names(command)
    for number, field in enumerate(command.fields):
        if not field.is_secret:
            found[f"field_{number}"] = (_option(command, field, named[field]), None)
    secrets = [one for one in command.fields if one.is_secret]
    for one in secrets:
        words = f"A file with it, - for standard input; or {variable(one)}, or a prompt."
        told = typer.Option(file_option(one), help=words)
        found[f"file_{one.place[-1]}"] = (Annotated[Path | None, told], None)
    if secrets:
        words = f"A card of the sandbox, by what becomes of it: {', '.join(TEST_CARDS)}."
        told = typer.Option("--test-card", help=words, metavar="NAME")
        found["test_card"] = (Annotated[Literal[tuple(TEST_CARDS)] | None, told], None)
    return found | _ways(command) | dict(REACH)


def _ways(command: Command) -> Parameters:
    """Return how to say and to see everything else."""
    found: Parameters = {}
    if any(one.part == "body" for one in command.fields):
        told = typer.Option("--body", help="A file with the body as JSON, - for standard input.")
        found["body"] = (Annotated[Path | None, told], None)
    if command.name == "move" and not any(one.place == ("dryRun",) for one in command.fields):
        told = typer.Option("--dry-run", help="Say whether it is possible, and change nothing.")
        found["rehearses"] = (Annotated[bool, told], False)
    if command.destroys:
        told = typer.Option("--yes", help="Do not ask whether it is really meant.")
        found["is_sure"] = (Annotated[bool, told], False)
    if command.is_listing:
        told = typer.Option("--all", help="Every page, one after the other, to the end.")
        found["every_page"] = (Annotated[bool, told], False)
    if command.formats:
        told = typer.Option("--format", help="In which form: json, csv or xml.", metavar="FORM")
        found["format"] = (Annotated[Literal["json", "csv", "xml"] | None, told], None)
    found["as_json"] = JSON
    if not command.is_reading:
        words = "Sent twice under one key, done once."
        told = typer.Option("--idempotency-key", help=words, rich_help_panel=_WHO)
        found["key"] = (Annotated[str | None, told], None)
    return found


def _id_argument(nouns: tuple[str, ...]) -> Any:
    words = [spoken(one) for one in nouns]
    told = typer.Argument(
        metavar="|".join(words).replace("_", "-").upper(),
        help=f"Which one, as {' or '.join(f'{word}/UUID' for word in words)}.",
        autocompletion=complete_id(*nouns),
    )
    return Annotated[str, told]


def _option(command: Command, field: Field, named: tuple[str, ...]) -> Any:
    kind: Any = Literal[field.choices] if field.choices else _TYPES.get(field.kind, str)
    if field.choices and field.kind == "list":
        kind = list[kind]
    words, last = _words(field), field.place[-1]
    if ARGUMENTS.get(command.id) == last:
        return Annotated[kind | None, typer.Argument(metavar=last.upper(), help=words)]
    names = list(named)
    if field.kind == "flag":
        names[-1] += f"/--no-{names[-1].removeprefix('--')}"
    more: dict[str, Any] = {}
    if field.choices:
        # The words themselves would take half of the help, cut in their middle.
        more["metavar"] = "STATE" if last.endswith("StateId") or last == "stateId" else "WORD"
    elif last in _NOUNS:
        more["autocompletion"] = complete_id(*_NOUNS[last], in_path=False)
    if field.place == ("toStateId",):
        more["autocompletion"] = _to(field)
    if len(field.place) > 1 and "ddress" in field.place[0]:
        more["rich_help_panel"] = "Address"
    return Annotated[kind | None, typer.Option(*names, help=words, **more)]


def _words(field: Field) -> str:
    words = field.help or options.kebab(field.place[-1]).replace("-", " ").capitalize() + "."
    words += f" One of {', '.join(field.choices)}." if field.choices else ""
    words += " As NAME=VALUE." if field.kind == "map" else ""
    words += " As JSON." if field.kind == "json" else ""
    words += " Needed." if field.is_required else ""
    # A bracket would begin a colour.
    return words.replace("[", r"\[")


def _to(field: Field) -> Complete:
    def complete(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
        # A line that ends in an option without its value is not read, only cut into words.
        named = ctx.params.get("id") or next((one for one in ctx.args if "/" in one), None)
        return possible(field.choices, {**ctx.params, "id": named}, incomplete)

    return complete
