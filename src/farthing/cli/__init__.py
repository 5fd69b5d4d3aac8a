"""The command line: each command says what it does, and each error what to do next."""

import sys
from typing import Annotated, Any, Final, NoReturn

import typer

from farthing import __version__
from farthing.cli import everyday, operations, server
from farthing.cli.exits import EXITS, Exit, Failure
from farthing.cli.groups import OwnGroup
from farthing.config import SettingsError

# A command of its own says more than the operation alone.
_OWN: Final = frozenset({"status"})


class Root(OwnGroup):
    """The commands that are written, and those that are made from the operations."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Name every command."""
        made = [one for one in operations.names_in(()) if one not in _OWN]
        return [*super().list_commands(ctx), *made, "clock"]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, or make it."""
        written = super().get_command(ctx, cmd_name)
        if written is not None or cmd_name in _OWN:
            return written
        return operations.find(operations.SHORTCUTS.get(cmd_name, (cmd_name,)))


app: Final = typer.Typer(
    name="farthing",
    cls=Root,
    help="An open payments core: customers, accounts and money over a double-entry ledger.",
    epilog="[bold]Exit codes[/bold]\n\n"
    + "\n\n".join(f"{code.value}  {words}" for code, words in EXITS.items()),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.add_typer(everyday.app)
app.add_typer(server.app)


def _say_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it so
    if wanted:
        typer.echo(f"farthing {__version__}")
        raise typer.Exit


@app.callback()
def _before(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Say which one.")
    ] = False,
) -> None:
    """Take what goes before every command."""


def main() -> None:
    """Run the command line; what is expected to go wrong ends in a sentence, not a traceback."""
    try:
        app()
    except Failure as failure:
        _fail(str(failure), failure.exit)
    except SettingsError as error:
        _fail(str(error), Exit.FAILED)


def _fail(sentence: str, code: Exit) -> NoReturn:
    # A problem for machines is one JSON object and nothing else.
    shown = sentence if sentence.startswith("{") else f"farthing: {sentence}"
    print(shown, file=sys.stderr)  # noqa: T201 - this is the command line
    raise SystemExit(code)
