"""Requests over HTTP: wrk drives them, a Lua script says which."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final
from uuid import uuid4

import msgspec
from bench.load import BenchError, Load
from bench.measurement import Measurement
from msgspec import Struct

_SCRIPTS: Final = Path(__file__).parent / "lua"
_MARK: Final = "farthing-report "
_TIMEOUT: Final = "10s"


class _Report(Struct, frozen=True):
    """What the scripts print when wrk is done; times are in microseconds."""

    requests: int
    duration: int
    p50: float
    p99: float
    errors: int


def require() -> str:
    """Return where wrk is, or say how to get it."""
    found = shutil.which("wrk")
    if found is None:
        raise BenchError("wrk is not installed. Get it with `apt-get install wrk`.")
    return found


def measure(base_url: str, script: str, load: Load, facts: dict[str, str]) -> Measurement:
    """Run a script for as long as the load says; the facts reach it as BENCH_<NAME>."""
    command = [
        require(),
        "--threads=1",
        f"--connections={load.connections}",
        f"--duration={load.seconds}s",
        f"--timeout={_TIMEOUT}",
        f"--script={_SCRIPTS / script}",
        base_url,
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=_environment(facts)
    )
    if done.returncode:
        raise BenchError(f"wrk failed: {done.stderr.strip() or done.stdout.strip()}")
    return read_output(done.stdout)


def _environment(facts: dict[str, str]) -> dict[str, str]:
    named = {f"BENCH_{name.upper()}": value for name, value in facts.items()}
    # The run's own name makes the idempotency keys of two runs differ.
    return os.environ | named | {"BENCH_RUN": uuid4().hex, "LUA_PATH": f"{_SCRIPTS}/?.lua;;"}


def read_output(text: str) -> Measurement:
    """Find the report of our scripts in what wrk printed."""
    lines = [line for line in text.splitlines() if line.startswith(_MARK)]
    if len(lines) != 1:
        raise BenchError(f"wrk printed no report:\n{text}")
    report = msgspec.json.decode(lines[0].removeprefix(_MARK), type=_Report)
    return Measurement(
        rate=report.requests / (report.duration / 1_000_000),
        p50=report.p50 / 1000,
        p99=report.p99 / 1000,
        operations=report.requests,
        errors=report.errors,
    )
