"""The command line: each command says what it does, and each error what to do next."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Final, NoReturn

import platformdirs
import typer
from rich.console import Console

from farthing import __version__
from farthing.catalog import MACHINES
from farthing.cli.home import HomeError
from farthing.config import Settings, SettingsError
from farthing.core.logs import configure_logs
from farthing.db import migrate as migrations
from farthing.db.pool import AWAY

app: Final = typer.Typer(
    name="farthing",
    help="An open payments core: customers, accounts and money over a double-entry ledger.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


DEFAULT_HOME: Final = platformdirs.user_data_path("farthing")
PORT: Final = 4960


def main() -> None:
    """Run the command line; what is expected to go wrong ends in a sentence, not a traceback."""
    # Before anything can go wrong: the default of the library shows variables in tracebacks.
    configure_logs(Settings(log_format="console"))
    try:
        app()
    except (SettingsError, HomeError, migrations.MigrationError) as error:
        _fail(str(error))
    except AWAY as error:
        _fail(f"The database cannot be reached: {error}. Is FARTHING_DATABASE_URL right?")


def _fail(sentence: str) -> NoReturn:
    print(f"farthing: {sentence}", file=sys.stderr)  # noqa: T201 - this is the command line
    raise SystemExit(1)


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


@app.command()
def up(
    home: Annotated[
        Path, typer.Option(help="Where everything is kept; the folder is made if need be.")
    ] = DEFAULT_HOME,
    port: Annotated[int, typer.Option(help="The port of the API; 0 chooses a free one.")] = PORT,
) -> None:
    """Start a sandbox: database, API and worker, with a demo tenant. Ctrl-C stops it.

    The keys are in HOME/sandbox.json. A second start on the same home keeps data and keys.

    Example: farthing up --home ~/payments --port 4960
    """
    from farthing.cli.up import up as run  # noqa: PLC0415 - the other commands start faster without

    run(home, port)


@app.command()
def serve() -> None:
    """Serve the API on FARTHING_HOST and FARTHING_PORT.

    Several may run beside each other on one database.

    Example: FARTHING_DATABASE_URL=postgresql://... FARTHING_MASTER_KEY_FILE=key farthing serve
    """
    from farthing.cli import serving  # noqa: PLC0415 - the other commands start faster without it

    serving.serve()


@app.command()
def worker() -> None:
    """Do what falls due by the clock, such as forgetting what has expired.

    Several may run beside each other on one database.

    Example: FARTHING_DATABASE_URL=postgresql://... farthing worker
    """
    from farthing.cli import serving  # noqa: PLC0415 - the other commands start faster without it

    serving.run_worker()


@app.command()
def migrate() -> None:
    """Bring the database at FARTHING_DATABASE_URL up to date.

    Example: FARTHING_DATABASE_URL=postgresql://... farthing migrate
    """
    url = Settings.load().require_database_url()
    asyncio.run(migrations.migrate(url, MACHINES, typer.echo))
    typer.echo("The database is up to date.")


@app.command()
def verify() -> None:
    """Recompute every balance from its entries and check all invariants, while the service runs.

    Exits with 1 and shows the first discrepancies if anything does not hold.

    Example: FARTHING_DATABASE_URL=postgresql://... farthing verify
    """
    from farthing.cli.verify import verify as run  # noqa: PLC0415 - a command of its own

    url = Settings.load().require_database_url()
    if not asyncio.run(run(url, Console(stderr=False))):
        _fail("The books do not hold. Stop writing, keep a copy of the database, and look.")


vault: Final = typer.Typer(no_args_is_help=True, help="Look after the card numbers.")
app.add_typer(vault, name="vault")


@vault.command("rotate")
def rotate_vault() -> None:
    """Make a new data key and encrypt every card number anew, while the services run.

    A rotation that was interrupted goes on where it stopped.

    Example: FARTHING_DATABASE_URL=... FARTHING_MASTER_KEY_FILE=... farthing vault rotate
    """
    from farthing.cli.vault import rotate  # noqa: PLC0415 - a command of its own

    if not asyncio.run(rotate(Settings.load(), Console())):
        _fail("Some numbers are not under the new key. Look at what is listed, then run it again.")


tenants: Final = typer.Typer(no_args_is_help=True, help="Found tenants and issue their keys.")
app.add_typer(tenants, name="tenants")


@tenants.command("create")
def create_tenant(name: Annotated[str, typer.Argument(help="The name of the tenant.")]) -> None:
    """Found a tenant and print its id and its API key, which is shown here and never again.

    Example: FARTHING_DATABASE_URL=postgresql://... farthing tenants create "My marketplace"
    """
    from farthing.cli.keys import found_tenant  # noqa: PLC0415 - a command of its own

    typer.echo(asyncio.run(found_tenant(Settings.load(), name)))


@app.command("operator-key")
def operator_key() -> None:
    """Issue a key for whoever runs the service; it is shown here and never again.

    Example: FARTHING_DATABASE_URL=postgresql://... farthing operator-key
    """
    from farthing.cli.keys import issue_operator_key  # noqa: PLC0415 - a command of its own

    typer.echo(asyncio.run(issue_operator_key(Settings.load())))
