"""Deliveries beside transfers: how many events reach a receiver, how late, a dead one beside it."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import fmean
from typing import Final

import httpx2
import msgspec
from bench import wrk
from bench.load import BenchError, Load
from bench.measurement import Measurement
from bench.receiver import Ports, Tally
from bench.stage import Stage
from msgspec import Struct

from farthing.db.committer import Committer
from farthing.db.pool import open_pool
from farthing.resources.access import actions

# What each transfer makes: it is created, and it is effected.
EVENTS_OF_A_TRANSFER: Final = 2
WANTED_EVENTS: Final = 1000
_EVENTS: Final = "events WHERE noun = 'transaction'"
_DELIVERED: Final = "deliveries WHERE status = 'delivered'"
_DRAIN_SECONDS: Final = 120
_SETTLE_SECONDS: Final = 1
# How long a request of few callers takes, in milliseconds, about.
_REQUEST: Final = 25


class Run(Struct, frozen=True):
    """One load of transfers, and what the receiver saw of it."""

    transfers: Measurement
    made: int
    # Those that had come when the load ended.
    in_time: int
    tally: Tally
    seconds: float

    @property
    def rate(self) -> float:
        """How many events a second were delivered while the load lasted."""
        return self.in_time / self.seconds

    @property
    def wrong(self) -> int:
        """How many events were lost, or came twice although they had been taken."""
        return abs(self.made - self.tally.distinct) + self.tally.received - self.tally.distinct


class Receiver:
    """The process that takes deliveries."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.ports = msgspec.json.decode(self._read(), type=Ports)

    def ask(self) -> Tally:
        """Return what has come since this was last asked."""
        if self._process.stdin is None:
            raise BenchError("The receiver has no input.")
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return msgspec.json.decode(self._read(), type=Tally)

    def _read(self) -> str:
        line = "" if self._process.stdout is None else self._process.stdout.readline()
        if not line:
            raise BenchError("The receiver has ended.")
        return line


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Run a receiver beside us."""
    command = [sys.executable, "-m", "bench.receiver"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Receiver(process)
        finally:
            process.terminate()


def subscribe(stage: Stage, ports: Ports) -> None:
    """Have every event of transactions delivered: to the receiver, and to one that is dead."""
    asyncio.run(_subscribe(stage, ports))


async def _subscribe(stage: Stage, ports: Ports) -> None:
    pool = await open_pool(stage.server.url(), size=2)
    key = await actions.issue_api_key(Committer(pool), "sandbox", stage.tenant_id)
    await pool.close()
    async with httpx2.AsyncClient(base_url=stage.base_url, headers={"X-Token": key}) as client:
        for port in (ports.quick, ports.dead):
            body = {"url": f"http://127.0.0.1:{port}/hook", "events": ["transaction.*"]}
            (await client.post("/v1/webhooks", json=body)).raise_for_status()


def pause_for(connections: int, events: int) -> int:
    """Return how many milliseconds each caller rests to make so many events a second together."""
    return round(connections * EVENTS_OF_A_TRANSFER / events * 1000) - _REQUEST


def measure(stage: Stage, receiver: Receiver, load: Load, *, pause: int | None) -> Run:
    """Run transfers, and wait until everything that they made is delivered."""
    facts = {"token": stage.token, "accounts": str(stage.accounts), "pause": str(pause)}
    before, delivered = stage.count(_EVENTS), stage.count(_DELIVERED)
    receiver.ask()
    began = time.monotonic()
    script = "transfers.lua" if pause is None else "paced.lua"
    transfers = wrk.measure(stage.base_url, script, load, facts)
    seconds = time.monotonic() - began
    in_time = stage.count(_DELIVERED) - delivered
    # What was under way when the load ended is still committed.
    time.sleep(_SETTLE_SECONDS)
    made = stage.count(_EVENTS) - before
    deadline = time.monotonic() + _DRAIN_SECONDS
    while stage.count(_DELIVERED) - delivered < made and time.monotonic() < deadline:
        time.sleep(0.5)
    return Run(transfers, made, in_time, receiver.ask(), seconds)


def for_people(paced: Sequence[Run], full: Sequence[Run]) -> str:
    """Return how deliveries keep up, in Markdown."""
    return "\n".join(
        [
            "# Deliveries, beside transfers and an endpoint that never answers",
            "",
            "| load | made per second | taken per second | lag p50 ms | lag p99 ms | wrong |",
            "| --- | ---: | ---: | ---: | ---: | ---: |",
            _row(f"Transfers that make about {WANTED_EVENTS:,} events a second", paced),
            _row("Transfers as fast as they go, 64 callers", full),
            "",
            "Taken are those events whose delivery was acknowledged while the load lasted. The lag",
            "is from the commit to the arrival, also of those that came after the load had ended.",
            "Wrong are those that were lost, or came once more after they had been taken.",
            "",
        ]
    )


def _row(name: str, runs: Sequence[Run]) -> str:
    made, rate = fmean(run.made / run.seconds for run in runs), fmean(run.rate for run in runs)
    p50, p99 = fmean(run.tally.p50 for run in runs), max(run.tally.p99 for run in runs)
    wrong = sum(run.wrong for run in runs)
    return f"| {name} | {made:,.0f} | {rate:,.0f} | {p50:,.0f} | {p99:,.0f} | {wrong} |"
