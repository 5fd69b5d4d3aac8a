"""Commands made from the table of operations: each field an option, each state a choice."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
from typer.core import TyperGroup

from farthing.cli import options
from farthing.cli.completion import possible, recent
from farthing.cli.nouns import spoken
from farthing.cli.numbers import TEST_CARDS, file_option, variable
from farthing.cli.options import ARGUMENTS
from farthing.cli.table import Command, Field, commands

_TYPES: Final[dict[str, Any]] = {
    "number": int,
    "flag": bool,
    "list": list[str],
    "map": list[str],
}
_WHO: Final = "Who calls, and where"
Parameters = dict[str, tuple[Any, Any]]

# What every command has for itself.
REACH: Final[Mapping[str, tuple[Any, Any]]] = {
    "customer": (
        Annotated[
            str | None,
            typer.Option("--as", help="Call as this customer.", rich_help_panel=_WHO),
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


class OperationGroup(TyperGroup):
    """The commands of one noun; each is made when somebody asks for it."""

    place: tuple[str, ...] = ()

    def list_commands(self, ctx: Any) -> list[str]:
        """Name the commands, and the groups inside."""
        return [*names_in(self.place), *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Make a command."""
        return find((*self.place, cmd_name)) or super().get_command(ctx, cmd_name)


def names_in(place: tuple[str, ...]) -> list[str]:
    """Return what comes next after these words, in any command."""
    depth = len(place)
    found = [one.place[depth] for one in commands().values() if one.place[:depth] == place]
    return list(dict.fromkeys(found))


def find(place: tuple[str, ...]) -> Any:
    """Return the command or the group at a place; None if there is nothing."""
    depth = len(place)
    few = [one for one in commands().values() if one.place[:depth] == place]
    if not few:
        return None
    if few[0].place == place:
        return command_of(few[0])
    return group_of(place)


def group_of(place: tuple[str, ...], words: str | None = None) -> Any:
    """Make the group at a place."""
    made = type("Group", (OperationGroup,), {"place": place})
    things = place[-1].replace("-", " ").replace("tx", "transactions")
    where = " in the sandbox" if len(place) > 1 else ""
    group = typer.Typer(
        cls=made,
        no_args_is_help=True,
        help=words or f"Operations on {things}{where}.",
    )
    group.callback()(lambda: None)
    found = _without_completion(group, place[-1])
    found.rich_help_panel = "Operations"
    return found


def _without_completion(app: typer.Typer, name: str) -> Any:
    app.info.name = name
    app._add_completion = False  # noqa: SLF001 - only the root installs completion
    return typer.main.get_command(app)


def command_of(
    command: Command, name: str | None = None, run: Callable[..., None] | None = None
) -> Any:
    """Make the command of one operation."""
    parameters = _parameters(command)
    made = typed_function(run or partial(_run, command), parameters, command.summary)
    app = typer.Typer()
    app.command(name or command.name)(made)
    return _without_completion(app, name or command.name)


def typed_function(
    run: Callable[..., None], parameters: Parameters, words: str
) -> Callable[..., None]:
    """Return a function with these parameters, for typer to read."""

    def made(**given: Any) -> None:
        run(**given)

    kind = inspect.Parameter.KEYWORD_ONLY
    signature = [
        inspect.Parameter(name, kind, default=default, annotation=annotation)
        for name, (annotation, default) in parameters.items()
    ]
    made.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]  # a function has room for it
    made.__annotations__ = {one.name: one.annotation for one in signature}
    made.__doc__ = words
    return made


def _parameters(command: Command) -> Parameters:
    found: Parameters = {}
    if command.noun:
        found["id"] = (_id_argument(command), inspect.Parameter.empty)
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
        told = typer.Option("--test-card", help="A card of the sandbox, by what becomes of it.")
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
    if command.formats:
        told = typer.Option("--format", help="In which form.")
        found["format"] = (Annotated[Literal["json", "csv", "xml"] | None, told], None)
    found["as_json"] = JSON
    told = typer.Option(
        "--idempotency-key", help="Sent twice under one key, done once.", rich_help_panel=_WHO
    )
    found["key"] = (Annotated[str | None, told], None)
    return found


def _id_argument(command: Command) -> Any:
    def complete(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
        return recent(command.noun, ctx.params, incomplete)

    word = spoken(command.noun)
    told = typer.Argument(
        metavar=word.replace("_", "-").upper(),
        help=f"Which one, as {word}/UUID.",
        autocompletion=complete,
    )
    return Annotated[str, told]


def _option(command: Command, field: Field, named: tuple[str, ...]) -> Any:
    kind: Any = Literal[field.choices] if field.choices else _TYPES.get(field.kind, str)
    if field.choices and field.kind == "list":
        kind = list[kind]
    words = field.help or options.kebab(field.place[-1]).replace("-", " ").capitalize() + "."
    words += " As NAME=VALUE." if field.kind == "map" else ""
    words += " As JSON." if field.kind == "json" else ""
    words += " Needed." if field.is_required else ""
    # A bracket would begin a colour.
    words = words.replace("[", r"\[")
    if ARGUMENTS.get(command.id) == field.place[-1]:
        return Annotated[kind | None, typer.Argument(metavar=field.place[-1].upper(), help=words)]
    names = list(named)
    if field.kind == "flag":
        names[-1] += f"/--no-{names[-1].removeprefix('--')}"
    if field.place == ("toStateId",):
        return Annotated[kind | None, typer.Option(*names, help=words, autocompletion=_to(field))]
    panel = None if len(field.place) == 1 or "ddress" not in field.place[0] else "Address"
    return Annotated[kind | None, typer.Option(*names, help=words, rich_help_panel=panel)]


def _to(field: Field) -> Callable[..., list[tuple[str, str]]]:
    def complete(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
        # A line that ends in an option without its value is not read, only cut into words.
        named = ctx.params.get("id") or next((one for one in ctx.args if "/" in one), None)
        return possible(field.choices, {**ctx.params, "id": named}, incomplete)

    return complete


def read(command: Command, given: dict[str, Any]) -> Any:
    """Sort what was typed."""
    from farthing.cli.calling import Typed  # noqa: PLC0415 - the client is not needed for help
    from farthing.cli.connection import Reach  # noqa: PLC0415 - the same

    reach = Reach(**{name: given.pop(name) for name in REACH})
    fields = {
        one: value
        for number, one in enumerate(command.fields)
        if (value := given.pop(f"field_{number}", None)) is not None
    }
    files = {
        name.removeprefix("file_"): given.pop(name)
        for name in list(given)
        if name.startswith("file_")
    }
    return Typed(fields=fields, files=files, reach=reach, **given)


def _run(command: Command, **given: Any) -> None:
    from farthing.cli.calling import call  # noqa: PLC0415 - the client is not needed for help

    call(command, read(command, given))
