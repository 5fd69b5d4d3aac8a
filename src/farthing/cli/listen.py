"""`farthing listen`: events as they come, and forwarded to a receiver on this machine."""

import base64
import hashlib
import secrets
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import httpx2
import msgspec
from msgspec import Struct
from rich.text import Text
from standardwebhooks import Webhook

from farthing.cli import shown
from farthing.cli.connection import Caller, Reach, connect, home_of
from farthing.cli.exits import Exit, Failure
from farthing.cli.failures import told
from farthing.cli.table import commands
from farthing.client import Retries
from farthing.client.errors import ValidationFailed
from farthing.client.models import Event

if TYPE_CHECKING:
    from farthing.db.embedded.folder import Lock

_FOLDER: Final = "listen"
_SECONDS: Final = 10.0
_SECRET_BYTES: Final = 24
_GOOD: Final = range(200, 300)
RETRIES: Final = Retries(attempts=5, first_pause=0.5, longest_pause=10)
# A narrower terminal has no room for a column of types.
_ROOM: Final = 120
_TYPE: Final = 28
# After so many failures the service is away.
_GONE: Final = 2


class Patience(Retries):
    """Pauses that are told of, so that nobody takes a silence for peace."""

    def pause(self, failures: int, asked: float = 0.0) -> float:
        """Return how long to wait; the first time, the service may only have ended a stream."""
        if failures == _GONE:
            shown.say("The service does not answer. Waiting until it does.")
        return super().pause(failures, asked)


class Memory(Struct, rename="camel"):
    """A receiver: what signs for it, and how far each tenant's events have reached it."""

    url: str
    secret: str
    last_event_ids: dict[str, str] = {}
    # Where the first start was, for as long as there was no event since.
    first_cursors: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<what is remembered of {self.url}>"


class Book:
    """What `farthing listen` remembers of one receiver, from one run to the next."""

    def __init__(self, home: Path, url: str) -> None:
        # A file for each, so that several can be listened for beside each other.
        name = hashlib.sha256(url.encode()).hexdigest()[:16]
        self.file = home / _FOLDER / f"{name}.json"
        self.is_new = False
        try:
            self.memory = msgspec.json.decode(self.file.read_bytes(), type=Memory)
        except FileNotFoundError:
            drawn = base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()
            self.memory, self.is_new = Memory(url, f"whsec_{drawn}"), True
            self.write()
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            raise Failure(
                f"The file {self.file} cannot be read. Take it away to begin anew."
            ) from None

    def write(self) -> None:
        """Keep it, for its owner alone."""
        from farthing.db.embedded.folder import write_private  # noqa: PLC0415 - slow to import

        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(self.file, msgspec.json.encode(self.memory).decode() + "\n")

    def hold(self) -> "Lock":
        """Let nobody else forward to this receiver, who would get everything twice."""
        from farthing.db.embedded.folder import Lock  # noqa: PLC0415 - slow to import

        lock = Lock(self.file.with_suffix(".lock"))
        if not lock.take():
            raise Failure(
                f"Another `farthing listen` forwards to {self.memory.url}: the process "
                f"{lock.holder()}. Stop it, or forward to another address."
            )
        return lock


@dataclass
class Forwarder:
    """Sends events to a receiver one after the other, so that each object's are in order."""

    url: str
    secret: str
    http: httpx2.Client

    def send(self, event: Event) -> tuple[bool, str]:
        """Send an event until it is taken; tell whether it was, and what came of it.

        A receiver that is not there is waited for. One that answers and refuses again and again
        is not: the events behind this one must not wait for ever.
        """
        failures = refusals = 0
        while True:
            began = time.monotonic()
            try:
                answer = self._post(event)
            except httpx2.RequestError as error:
                what = type(error).__name__
            else:
                what = f"{answer.status_code} in {(time.monotonic() - began) * 1000:.0f} ms"
                if answer.status_code in _GOOD:
                    return True, what
                refusals += 1
                if refusals >= RETRIES.attempts:
                    return False, f"{what}, given up after {refusals} attempts"
            failures += 1
            pause = RETRIES.pause(failures)
            shown.say(f"  {event.type} was not taken: {what}. Again in {pause:.1f} s.")
            time.sleep(pause)

    def _post(self, event: Event) -> httpx2.Response:
        body = msgspec.json.encode(event)
        at = datetime.now(UTC)
        headers = {
            "content-type": "application/json",
            "webhook-id": event.id,
            "webhook-timestamp": str(int(at.timestamp())),
            "webhook-signature": Webhook(self.secret).sign(event.id, at, body.decode()),
        }
        return self.http.post(self.url, content=body, headers=headers)


@dataclass(frozen=True)
class Wish:
    """What to listen to, and where to forward it."""

    forward: str | None = None
    types: str | None = None
    since: str | None = None
    as_json: bool = False


def listen(reach: Reach, wish: Wish) -> None:
    """Show events until somebody presses Ctrl-C, and forward them if there is a receiver."""
    if wish.forward is not None and not wish.forward.startswith(("http://", "https://")):
        raise Failure(
            "--forward takes an address with http:// in front, such as http://localhost:3000/hook.",
            Exit.USAGE,
        )
    if wish.since is not None:
        read_time(wish.since)
    command = commands()["events.stream"]
    with (
        connect(reach, retries=Patience(attempts=3, longest_pause=5)) as caller,
        told(command, caller, as_json=wish.as_json),
    ):
        try:
            if wish.forward is None:
                after = _end_of_log(caller) if wish.since is None else None
                shown.say(f"Listening to {caller.base_url}. Ctrl-C stops it.")
                for event in _events(caller, wish, after, None):
                    show_event(event, as_json=wish.as_json)
            else:
                _forward(caller, Book(home_of(reach), wish.forward), wish)
        except KeyboardInterrupt:
            is_kept = wish.forward is not None
            after = " The same command goes on after the last event that it forwarded."
            shown.say(f"Stopped.{after if is_kept else ''}")


def _forward(caller: Caller, book: Book, wish: Wish) -> None:
    memory, lock = book.memory, book.hold()
    secret = f"is {memory.secret}, and is kept in" if book.is_new else "is in"
    shown.say(f"The secret for {memory.url} {secret} {book.file}.")
    last = memory.last_event_ids.get(caller.tenant)
    after = memory.first_cursors.get(caller.tenant)
    begin = wish.since or last or (after and "the first start")
    if begin is None:
        # The place is looked up now, so that nothing is missed before the stream is open.
        memory.first_cursors[caller.tenant] = after = _end_of_log(caller)
        book.write()
    what = f"everything since {begin}" if begin else "what happens now"
    shown.say(f"Forwarding {what}. Ctrl-C stops it.")
    with httpx2.Client(timeout=_SECONDS) as http:
        forwarder = Forwarder(memory.url, memory.secret, http)
        for event in _events(caller, wish, after, last):
            is_taken, came = forwarder.send(event)
            # What was shown was remembered: whoever stops now gets it once.
            memory.last_event_ids[caller.tenant] = event.id
            book.write()
            show_event(event, came, as_json=wish.as_json, good=is_taken)
    lock.release()


def _events(caller: Caller, wish: Wish, after: str | None, last: str | None) -> Iterator[Event]:
    """Yield what happened since a time, or since a place in the log; then whatever happens."""
    if wish.since is not None:
        yield from _since(caller, wish.types, read_time(wish.since))
        return
    try:
        yield from caller.events.stream(type=wish.types, after=after, last_event_id=last)
    except ValidationFailed as error:
        if any(one.code == "unknown_cursor" for one in error.problem.errors):
            raise Failure(
                "The log began anew since this command last ran, so nobody knows where to go on. "
                "Say where with --since TIME."
            ) from None
        raise


def _since(caller: Caller, types: str | None, begin: datetime) -> Iterator[Event]:
    after = None
    for page in caller.events.list(type=types, from_=begin).pages():
        yield from page.results
        after = page.next_cursor
    yield from caller.events.stream(type=types, after=after)


def _end_of_log(caller: Caller) -> str:
    """Return the cursor after the last event: where a list of what is yet to come begins."""
    page = next(caller.events.list(from_=datetime.max.replace(tzinfo=UTC), limit=1).pages())
    return page.next_cursor


def read_time(text: str) -> datetime:
    """Read a time as people type it."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise Failure("--since takes a time such as 2026-01-31T12:00:00Z.", Exit.USAGE) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def show_event(event: Event, came: str = "", *, as_json: bool = False, good: bool = True) -> None:
    """Show an event as a line."""
    if as_json:
        sys.stdout.write(msgspec.json.encode(event).decode() + "\n")
        sys.stdout.flush()
        return
    out = shown.console()
    at = event.created_at.partition("T")[2].rstrip("Z")
    if out.width < _ROOM:
        at, kind = at.partition(".")[0], event.type
    else:
        kind = event.type.ljust(_TYPE)
    mark = Text(f"  {came}", "green" if good else "red") if came else ""
    # The terminal breaks a line that is too long, and an identifier stays whole for copying.
    out.print(Text.assemble(f"{at}  {kind}  ", shown.word(event.object_id), mark), soft_wrap=True)
    sys.stdout.flush()
