"""`farthing resend`: an event, a delivery, or everything since a time, once more."""

from farthing.cli.connection import Reach, connect
from farthing.cli.exits import Exit, Failure
from farthing.cli.failures import told
from farthing.cli.listen import read_time
from farthing.cli.nouns import noun_of
from farthing.cli.shown import console
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
    command = commands()["webhooks.resend"]
    out = console()
    with connect(reach) as caller, told(command, caller):
        hooks = (
            [webhook] if webhook else [one.id for one in caller.webhooks.list(state_id="ENABLED")]
        )
        if not hooks:
            raise Failure(
                "There is no webhook. Make one with `farthing webhooks create --url ADDRESS`.",
                Exit.NOT_FOUND,
            )
        for one in hooks:
            caller.webhooks.resend(
                one,
                event_id=what if noun == "event" else None,
                delivery_id=what if noun == "delivery" else None,
                since=at,
            )
            out.print(f"{what or 'Everything since ' + str(since)} goes to {one} once more.")
        out.print(f"`farthing webhooks deliveries {hooks[0]}` shows what becomes of it.")
