"""The commands of whoever builds on the service, beyond its operations."""

import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any, Final, get_type_hints

import typer

from farthing.cli.completion import recent
from farthing.cli.groups import OwnCommand
from farthing.cli.nouns import namespaces
from farthing.cli.operations import typed_function
from farthing.cli.parameters import REACH, complete_id
from farthing.cli.trigger import TriggerGroup

_PANEL: Final = "Build on it"

app: Final = typer.Typer()

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def _reaching(run: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say who calls, and hand it what they said."""
    hints = get_type_hints(run, include_extras=True)
    own = {
        name: (hints[name], one.default)
        for name, one in inspect.signature(run).parameters.items()
        if name != "reach"
    }

    def call(**given: Any) -> None:
        from farthing.cli.connection import Reach  # noqa: PLC0415 - no help needs the client

        reach = Reach(**{name: given.pop(name) for name in REACH})
        run(reach=reach, **given)

    # A terminal breaks lines where it must, and would keep those of the source too.
    words = re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.getdoc(run) or "")
    made = typed_function(call, own | dict(REACH), words)
    made.__name__ = run.__name__
    return made


def _complete_object(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    # Asking for every noun would take too long.
    nouns = namespaces() if "/" in incomplete else ("transaction",)
    return recent(nouns, ctx.params, incomplete)


@app.command(rich_help_panel=_PANEL, cls=OwnCommand)
@_reaching
def status(reach: Any, *, as_json: AsJson = False) -> None:
    """Show whether the service, its database and its worker are there; it needs no key.

    Example: farthing status
    """
    from farthing.cli.status import status as run  # noqa: PLC0415 - the client is slow to import

    run(reach, as_json=as_json)


@app.command(rich_help_panel=_PANEL, cls=OwnCommand)
@_reaching
def demo(reach: Any) -> None:
    """Play a day of a marketplace in the sandbox, and leave data worth looking at.

    Example: farthing demo
    """
    from farthing.cli.demo import demo as run  # noqa: PLC0415 - the client is slow to import

    run(reach)


@app.command(rich_help_panel=_PANEL, cls=OwnCommand)
@_reaching
def listen(
    reach: Any,
    *,
    forward: Annotated[
        str | None,
        typer.Option(help="An address, to which every event is sent, signed and in order."),
    ] = None,
    types: Annotated[
        str | None, typer.Option("--type", help="Only these types, such as transaction.*,card.*")
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Begin at this time instead of after the last one seen.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show events as they come; with --forward, send them to a receiver on this machine.

    The first start with an address prints the secret that signs for it. Later starts go on after
    the last event that was forwarded there.

    Example: farthing listen --forward http://localhost:3000/hook
    """
    from farthing.cli.listen import Wish  # noqa: PLC0415 - the client is slow to import
    from farthing.cli.listen import listen as run  # noqa: PLC0415 - the same

    run(reach, Wish(forward, types, since, as_json))


@app.command(rich_help_panel=_PANEL, cls=OwnCommand)
@_reaching
def resend(
    reach: Any,
    *,
    what: Annotated[
        str | None, typer.Argument(metavar="EVENT", help="An event/UUID or a delivery/UUID.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Everything since this time, instead of one event.")
    ] = None,
    webhook: Annotated[
        str | None,
        typer.Option(
            help="Only to this webhook; otherwise to all that are enabled.",
            autocompletion=complete_id("webhook"),
        ),
    ] = None,
) -> None:
    """Deliver an event, or everything since a time, to webhooks once more.

    Example: farthing resend event/0190a1b2-c3d4-8e5f-8a9b-0c1d2e3f4a5b
    """
    from farthing.cli.resend import resend as run  # noqa: PLC0415 - the client is slow to import

    run(reach, what, since, webhook)


@app.command(rich_help_panel=_PANEL, cls=OwnCommand)
@_reaching
def timeline(
    reach: Any,
    *,
    identifier: Annotated[
        str,
        typer.Argument(
            metavar="OBJECT",
            help="Which one, as tx/UUID, customer/UUID and so on.",
            autocompletion=_complete_object,
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Show requests, transitions, entries, events and deliveries of one object, in order.

    Example: farthing timeline tx/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b
    """
    from farthing.cli.timeline import timeline as run  # noqa: PLC0415 - the client is slow

    run(reach, identifier, as_json=as_json)


trigger: Final = typer.Typer(
    cls=TriggerGroup,
    no_args_is_help=True,
    help="Make something happen outside: `farthing trigger dispute tx/UUID --amount 500`.",
)
app.add_typer(trigger, name="trigger", rich_help_panel=_PANEL)


@trigger.callback()
def _trigger() -> None:
    """Make something happen outside: `farthing trigger dispute tx/UUID --amount 500`."""
