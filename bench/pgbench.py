"""The reference: pgbench's built-in TPC-B on the same server, with the same durability."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from bench.load import BenchError, Load
from bench.measurement import Measurement, percentile

from farthing.db.embedded import binary

# Five million accounts: more than the server's memory holds, as pgbench's own manual advises.
SCALE: Final = 50
_THREADS: Final = 2
# Every tenth transaction is enough for percentiles, and leaves pgbench's own speed alone.
_SAMPLING: Final = "0.1"
# Connecting counts towards pgbench's time, though not for its rate.
_CONNECTED_A_SECOND: Final = 64
_MICROSECONDS_COLUMN: Final = 2


def fill(url: str) -> None:
    """Make the tables of the reference in an empty database."""
    _run("--initialize", "--quiet", f"--scale={SCALE}", url)


def measure(url: str, load: Load, folder: Path) -> Measurement:
    """Run TPC-B for as long as the load says."""
    log = folder / "pgbench"
    clients, threads = load.connections, min(_THREADS, load.connections)
    done = _run(
        f"--client={clients}",
        f"--jobs={threads}",
        f"--time={load.seconds + (clients - 1) // _CONNECTED_A_SECOND}",
        "--log",
        f"--log-prefix={log}",
        f"--sampling-rate={_SAMPLING}",
        url,
    )
    files = list(folder.glob(f"{log.name}.*"))
    times = [time for file in files for time in read_times(file.read_text("ascii").splitlines())]
    for file in files:
        file.unlink()
    return read_output(done, times)


def read_times(lines: Iterable[str]) -> list[float]:
    """Return the milliseconds of each transaction in pgbench's log."""
    return [int(line.split()[_MICROSECONDS_COLUMN]) / 1000 for line in lines if line.strip()]


def read_output(text: str, times: list[float]) -> Measurement:
    """Read pgbench's report; the percentiles come from its log."""
    return Measurement(
        rate=_number(r"^tps = ([0-9.]+)", text),
        p50=percentile(times, 0.50),
        p99=percentile(times, 0.99),
        operations=int(_number(r"actually processed: ([0-9]+)", text)),
        errors=int(_number(r"^number of failed transactions: ([0-9]+)", text)),
    )


def _number(pattern: str, text: str) -> float:
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise BenchError(f"pgbench's report has no line with {pattern}:\n{text}")
    return float(found[1])


def _run(*arguments: str) -> str:
    command = [str(binary("pgbench")), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"pgbench failed: {done.stderr.strip()}")
    return done.stdout
