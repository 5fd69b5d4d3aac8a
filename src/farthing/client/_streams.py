"""Following a stream of server-sent events across reconnects, each event once."""

from dataclasses import dataclass, replace

from farthing.client._asks import EVENT_STREAM, Ask
from farthing.client._failures import UnexpectedAnswer
from farthing.client._session import Session, read
from farthing.client._steps import Flow, Found, Pause, Reply, Take
from farthing.client.models import Event


@dataclass
class Follower:
    """One reader of the stream, and how far it has read."""

    session: Session
    ask: Ask
    _was_open: bool = False
    _failures: int = 0
    _asked: float = 0.0

    @property
    def last_event_id(self) -> str | None:
        """The event, or the place between two, after which the stream goes on."""
        return self.ask.last_event_id

    def flow(self) -> Flow[None]:
        """Follow the stream until the service refuses to go on."""
        while True:
            outcome = yield from self.session.attempt(self.ask, is_stream=True)
            if isinstance(outcome, Reply) and outcome.is_good:
                _check(outcome)
                self._was_open = True
                yield from self._read()
            elif not outcome.is_passing:
                raise outcome.failure()
            else:
                self._asked = outcome.retry_after
            self._failures += 1
            # An address that never answered is likely wrong; one that did will do so again.
            if not self._was_open and self._failures >= self.session.retries.attempts:
                raise outcome.failure()
            yield Pause(self.session.retries.pause(self._failures, self._asked))

    def _read(self) -> Flow[None]:
        """Read blocks to the end of the connection; one that is not whole counts for nothing."""
        rest, block = b"", dict[bytes, bytes]()
        while True:
            part = yield Take()
            if not isinstance(part, bytes):
                return
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                name, _, value = line.rstrip(b"\r").partition(b":")
                if name:
                    block[name] = value.removeprefix(b" ")
                elif not line.strip(b"\r"):
                    yield from self._take(block)
                    block = {}

    def _take(self, block: dict[bytes, bytes]) -> Flow[None]:
        self._failures = 0
        if b"retry" in block and block[b"retry"].isdigit():
            self._asked = int(block[b"retry"]) / 1000
        event = read(block[b"data"], Event) if b"data" in block else None
        if b"id" in block:
            # For the service this counts instead of the cursor that the query may have.
            self.ask = replace(self.ask, last_event_id=block[b"id"].decode("ascii"))
        if event is not None:
            yield Found(event)


def _check(reply: Reply) -> None:
    """Refuse an answer that is no stream: whoever came back to it would do so for ever."""
    kind = reply.headers.get("content-type", "")
    if not kind.startswith(EVENT_STREAM):
        raise UnexpectedAnswer(f"The answer has status {reply.status}, and is no stream of events.")
