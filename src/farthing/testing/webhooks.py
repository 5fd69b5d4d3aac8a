"""A receiver of webhooks on this machine, which waits for what a test expects."""

import asyncio
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, Self

from farthing.client import errors, verify_webhook
from farthing.client.models import Event

_PATIENCE: Final = 10.0
_IDLE_SECONDS: Final = 60
# How often the receiver looks whether it is to stop.
_LOOK_SECONDS: Final = 0.05


@dataclass(frozen=True)
class Delivery:
    """A webhook as it came, for the code that is to take it, and the event that it carries."""

    body: bytes
    headers: dict[str, str]
    event: Event


class Inbox:
    """The webhooks of one sandbox: every event comes here, verified, and is handed out once."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.secret = ""
        self.deliveries: list[Delivery] = []
        self._waiting: list[Delivery] = []
        self._forged = 0
        self._came = threading.Condition()

    @property
    def events(self) -> list[Event]:
        """Every event that has come, in the order in which they came, repetitions included."""
        return [one.event for one in self.deliveries]

    def expect(
        self, kind: str, *, object_id: str | None = None, timeout: float = _PATIENCE
    ) -> Event:
        """Return the next event of a type, such as `transaction.effected` or `transaction.*`.

        An event is returned once, whether it came before or comes now. If none comes, the test
        fails with a list of what came instead.
        """
        __tracebackhide__ = True
        return self.expect_delivery(kind, object_id=object_id, timeout=timeout).event

    async def expect_async(
        self,
        kind: str,
        *,
        object_id: str | None = None,
        timeout: float = _PATIENCE,  # noqa: ASYNC109 - the same as without `await`.
    ) -> Event:
        """Return the next event of a type, and let others of the event loop go on meanwhile."""
        __tracebackhide__ = True
        return await asyncio.to_thread(self.expect, kind, object_id=object_id, timeout=timeout)

    def expect_delivery(
        self, kind: str, *, object_id: str | None = None, timeout: float = _PATIENCE
    ) -> Delivery:
        """Return the next event of a type as it was delivered: body, headers and signature."""
        __tracebackhide__ = True
        with self._came:
            found = self._came.wait_for(lambda: self._find(kind, object_id), timeout)
            if found is None:
                raise AssertionError(self._regret(kind, object_id, timeout))
            self._waiting.remove(found)
            return found

    @contextmanager
    def being_registered(self) -> Iterator[None]:
        """Keep deliveries waiting until the secret is known."""
        with self._came:
            yield

    def take(self, body: bytes, headers: dict[str, str]) -> bool:
        """Take what was delivered; false if it was not signed for us."""
        with self._came:
            try:
                event = verify_webhook(body, headers, self.secret)
            except errors.InvalidSignature:
                self._forged += 1
                return False
            delivery = Delivery(body, headers, event)
            if event.id not in {one.event.id for one in self.deliveries}:
                self._waiting.append(delivery)
            self.deliveries.append(delivery)
            self._came.notify_all()
            return True

    def _find(self, kind: str, object_id: str | None) -> Delivery | None:
        fits = (
            one
            for one in self._waiting
            if fnmatchcase(one.event.type, kind) and object_id in {None, one.event.object_id}
        )
        return next(fits, None)

    def _regret(self, kind: str, object_id: str | None, timeout: float) -> str:
        of = f" of {object_id}" if object_id else ""
        lines = [f"No {kind}{of} came within {timeout:g} s."]
        lines.append("What came:" if self.deliveries else "Nothing came.")
        waiting = {one.event.id for one in self._waiting}
        for event in self.events:
            was_expected = "" if event.id in waiting else "  (was expected before)"
            lines.append(f"  {event.type:<28} {event.object_id}{was_expected}")
        if self._forged:
            lines.append(f"{self._forged} more came that were not signed with the secret.")
        return "\n".join(lines)


class Receiver:
    """An HTTP server in a thread, with an inbox for each sandbox; also a context manager."""

    def __init__(self) -> None:
        self._inboxes: dict[str, Inbox] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, args=(_LOOK_SECONDS,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @contextmanager
    def open_inbox(self) -> Iterator[Inbox]:
        """Give an inbox at an address of its own."""
        path = f"/{secrets.token_urlsafe(12)}"
        inbox = Inbox(f"http://127.0.0.1:{self._server.server_port}{path}")
        self._inboxes[path] = inbox
        try:
            yield inbox
        finally:
            del self._inboxes[path]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        inboxes = self._inboxes

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = _IDLE_SECONDS

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                inbox = inboxes.get(self.path)
                headers = {name.lower(): value for name, value in self.headers.items()}
                is_taken = inbox is not None and inbox.take(body, headers)
                self.send_response(204 if is_taken else 404)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing: what came is in the inbox."""

        return Handler
