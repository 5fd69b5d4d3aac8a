"""The commands of whoever runs the service: they work on its machine and its database."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer
from msgspec.structs import replace
from rich.console import Console

from farthing.cli.exits import Failure
from farthing.cli.sandbox import DEFAULT_HOME
from farthing.config import Settings

PORT: Final = 4960
_PANEL: Final = "Run the service"

app: Final = typer.Typer()


@contextmanager
def _house() -> Iterator[None]:
    """Prepare for what the service is made of, which the other commands start faster without."""
    from farthing.core.logs import configure_logs  # noqa: PLC0415 - slow to import
    from farthing.db.migrate import MigrationError  # noqa: PLC0415 - slow to import
    from farthing.db.pool import AWAY  # noqa: PLC0415 - slow to import

    # Before anything can go wrong: the default of the library shows variables in tracebacks.
    configure_logs(Settings(log_format="console"))
    try:
        yield
    except MigrationError as error:
        raise Failure(str(error)) from None
    except AWAY as error:
        raise Failure(
            f"The database cannot be reached: {error}. Is FARTHING_DATABASE_URL right? For a "
            "sandbox of this machine, `farthing up` must run."
        ) from None


def _settings(home: Path) -> Settings:
    """Return the settings; without a database of one's own, those of the sandbox in the home."""
    settings = Settings.load()
    if settings.database_url or settings.database_url_file or not (home / "postgres/data").exists():
        return settings
    from farthing.cli.home import Home  # noqa: PLC0415 - slow to import
    from farthing.db.embedded import EmbeddedServer  # noqa: PLC0415 - slow to import

    held = Home(home)
    typer.echo(f"FARTHING_DATABASE_URL is not set: this is the sandbox in {held.folder}.", err=True)
    return replace(
        settings,
        database_url=EmbeddedServer(held.postgres).url(),
        master_key_file=str(held.master_key_file),
        master_key="",
    )


LocalHome = Annotated[
    Path,
    typer.Option(
        help="The home of a local sandbox, if FARTHING_DATABASE_URL is not set.",
        envvar="FARTHING_HOME",
    ),
]


@app.command(rich_help_panel=_PANEL)
def up(
    home: Annotated[
        Path,
        typer.Option(
            help="Where everything is kept; the folder is made if need be.", envvar="FARTHING_HOME"
        ),
    ] = DEFAULT_HOME,
    port: Annotated[int, typer.Option(help="The port of the API; 0 chooses a free one.")] = PORT,
) -> None:
    """Start a sandbox: database, API and worker, with a demo tenant. Ctrl-C stops it.

    The keys are in HOME/sandbox.json. A second start on the same home keeps data and keys.

    Example: farthing up --home ~/payments --port 4960
    """
    with _house():
        from farthing.cli.up import up as run  # noqa: PLC0415 - slow to import

        run(home, port)


@app.command(rich_help_panel=_PANEL)
def serve() -> None:
    """Serve the API on FARTHING_HOST and FARTHING_PORT.

    Several may run beside each other on one database.

    Example: FARTHING_DATABASE_URL=postgresql://... FARTHING_MASTER_KEY_FILE=key farthing serve
    """
    with _house():
        from farthing.cli import serving  # noqa: PLC0415 - slow to import

        serving.serve()


@app.command(rich_help_panel=_PANEL)
def worker() -> None:
    """Do what falls due by the clock, such as forgetting what has expired.

    Several may run beside each other on one database.

    Example: FARTHING_DATABASE_URL=postgresql://... farthing worker
    """
    with _house():
        from farthing.cli import serving  # noqa: PLC0415 - slow to import

        serving.run_worker()


@app.command(rich_help_panel=_PANEL)
def migrate() -> None:
    """Bring the database at FARTHING_DATABASE_URL up to date.

    Example: FARTHING_DATABASE_URL=postgresql://... farthing migrate
    """
    with _house():
        from farthing.catalog import MACHINES  # noqa: PLC0415 - slow to import
        from farthing.db.migrate import migrate as run  # noqa: PLC0415 - slow to import

        asyncio.run(run(Settings.load().require_database_url(), MACHINES, typer.echo))
    typer.echo("The database is up to date.")


@app.command(rich_help_panel=_PANEL)
def verify(home: LocalHome = DEFAULT_HOME) -> None:
    """Recompute every balance from its entries and check all invariants, while the service runs.

    Exits with 1 and shows the first discrepancies if anything does not hold.

    Example: farthing verify
    """
    with _house():
        from farthing.cli.verify import verify as run  # noqa: PLC0415 - slow to import

        url = _settings(home).require_database_url()
        holds = asyncio.run(run(url, Console(stderr=False)))
    if not holds:
        raise Failure("The books do not hold. Stop writing, keep a copy of the database, and look.")


vault: Final = typer.Typer(no_args_is_help=True, help="Look after the card numbers.")
app.add_typer(vault, name="vault", rich_help_panel=_PANEL)


@vault.command("rotate")
def rotate_vault(home: LocalHome = DEFAULT_HOME) -> None:
    """Make a new data key and encrypt every card number anew, while the services run.

    A rotation that was interrupted goes on where it stopped.

    Example: FARTHING_DATABASE_URL=... FARTHING_MASTER_KEY_FILE=... farthing vault rotate
    """
    with _house():
        from farthing.cli.vault import rotate  # noqa: PLC0415 - slow to import

        is_done = asyncio.run(rotate(_settings(home), Console()))
    if not is_done:
        raise Failure(
            "Some numbers are not under the new key. Look at what is listed, then run it again."
        )


@vault.callback()
def _vault() -> None:
    """Look after the card numbers."""


tenants: Final = typer.Typer(no_args_is_help=True, help="Found tenants and issue their keys.")
app.add_typer(tenants, name="tenants", rich_help_panel=_PANEL)


@tenants.command("create")
def create_tenant(name: Annotated[str, typer.Argument(help="The name of the tenant.")]) -> None:
    """Found a tenant and print its id and its API key, which is shown here and never again.

    Example: FARTHING_DATABASE_URL=postgresql://... farthing tenants create "My marketplace"
    """
    with _house():
        from farthing.cli.keys import found_tenant  # noqa: PLC0415 - slow to import

        typer.echo(asyncio.run(found_tenant(Settings.load(), name)))


@app.command("operator-key", rich_help_panel=_PANEL)
def operator_key() -> None:
    """Issue a key for whoever runs the service; it is shown here and never again.

    Example: FARTHING_DATABASE_URL=postgresql://... farthing operator-key
    """
    with _house():
        from farthing.cli.keys import issue_operator_key  # noqa: PLC0415 - slow to import

        typer.echo(asyncio.run(issue_operator_key(Settings.load())))
