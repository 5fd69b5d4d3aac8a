"""`farthing resend`: an event, a delivery, or everything since a time, once more."""

import typer

from farthing.cli import asking
from farthing.cli.connection import Caller, Reach, connect
from farthing.cli.exits import Exit, Failure
from farthing.cli.failures import told
from farthing.cli.listen import read_time
from farthing.cli.nouns import noun_of
from farthing.cli.table import commands


def resend(reach: Reach, what: str | None, since: str | None, webhook: str | None) -> None:
    """Deliver once more to one webhook, or to all that are enabled."""
    if (what is None) == (since is None):
        raise Failure("Say what: an event/UUID, a delivery/UUID, or --since TIME.", Exit.USAGE)
    noun = noun_of(what or "")
    if what is not None and noun not in {"event", "delivery"}:
        raise Failure("What is sent again is an event/UUID or a delivery/UUID.", Exit.USAGE)
    if noun == "delivery" and webhook is None:
        raise Failure("Name the webhook of the delivery with --webhook.", Exit.USAGE)
    at = None if since is None else read_time(since)
    resending, reading = commands()["webhooks.resend"], commands()["events.get"]
    only = None if webhook is None else asking.identifier(resending, webhook)
    with connect(reach) as caller:
        if noun == "event":
            # What is not there is told of as an event, and not as a field of something else.
            with told(reading, caller):
                caller.events.get(asking.identifier(reading, str(what)))
        with told(resending, caller):
            hooks = [only] if only else _enabled(caller)
            for one in hooks:
                caller.webhooks.resend(
                    one,
                    event_id=what if noun == "event" else None,
                    delivery_id=what if noun == "delivery" else None,
                    since=at,
                )
                typer.echo(f"{what or f'Everything since {since}'} goes to {one} once more.")
    typer.echo(f"`farthing webhooks deliveries {hooks[0]}` shows what becomes of it.")


def _enabled(caller: Caller) -> list[str]:
    found = [one.id for one in caller.webhooks.list(state_id="ENABLED")]
    if not found:
        raise Failure(
            "There is no webhook that is enabled. Make one with `farthing webhooks create --url "
            "ADDRESS`, or look for one with `farthing webhooks list`.",
            Exit.NOT_FOUND,
        )
    return found
