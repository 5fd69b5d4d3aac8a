"""Commands made from the table of operations, each when somebody asks for it."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import typer

from farthing.cli.examples import example
from farthing.cli.groups import OwnCommand, OwnGroup
from farthing.cli.parameters import REACH, Parameters, parameters_of
from farthing.cli.table import Command, commands

# What is said often, without the word for where it stands; and what the service itself says.
SHORTCUTS: Final = {"clock": ("sandbox", "clock"), "transactions": ("tx",)}


class OperationGroup(OwnGroup):
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


def group_of(place: tuple[str, ...]) -> Any:
    """Make the group at a place."""
    made = type("Group", (OperationGroup,), {"place": place})
    things = place[-1].replace("-", " ").replace("tx", "transactions").capitalize()
    where = " in the sandbox" if len(place) > 1 else ""
    verbs = ", ".join(names_in(place))
    group = typer.Typer(cls=made, no_args_is_help=True, help=f"{things}{where}: {verbs}.")
    group.callback()(lambda: None)
    found = _without_completion(group, place[-1])
    found.rich_help_panel = "Operations"
    return found


def _without_completion(app: typer.Typer, name: str) -> Any:
    app.info.name = name
    app._add_completion = False  # noqa: SLF001 - only the root installs completion
    return typer.main.get_command(app)


def command_of(command: Command) -> Any:
    """Make the command of one operation."""
    run, parameters = partial(_run, command), parameters_of(command)
    return made_command(command.name, run, parameters, [command.summary, example(command)])


def made_command(
    name: str, run: Callable[..., None], parameters: Parameters, words: list[str]
) -> Any:
    """Make a command that is not written; its words are a sentence and an example."""
    sentence, line = words
    # A bracket would begin a colour.
    told = f"{sentence}\n\nExample: {line}".replace("[", r"\[")
    app = typer.Typer()
    app.command(name, cls=OwnCommand)(typed_function(run, parameters, told))
    return _without_completion(app, name)


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


def read(command: Command, given: dict[str, Any]) -> Any:
    """Sort what was typed."""
    from farthing.cli.asking import Typed  # noqa: PLC0415 - the client is not needed for help
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
