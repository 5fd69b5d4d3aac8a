"""What the numbers were measured on: enough to compare, nothing that names the machine."""

import os
import platform
import subprocess
import tempfile
import time
from typing import Final

import psutil
from bench.measurement import percentile

from farthing.db.embedded import binary

_GIB: Final = 2**30
_SYNCS: Final = 100
_PAGE: Final = b"\0" * 8192
_OTHER_WORK: Final = "busy with other work"
_TOO_BUSY: Final = 20


def facts() -> dict[str, str]:
    """Return the facts by name."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIB
    return {
        "system": f"{platform.system()} on {platform.machine()}",
        "cores": str(os.cpu_count()),
        "memory": f"{memory:.0f} GiB",
        _OTHER_WORK: f"{psutil.cpu_percent(interval=1):.0f} % before the start",
        "one fsync": f"{_sync_milliseconds():.2f} ms (median)",
        "PostgreSQL": _postgres_version(),
        "Python": platform.python_version(),
    }


def is_busy(known: dict[str, str]) -> bool:
    """Tell whether others had so much to do here that the numbers are of little use."""
    return int(known[_OTHER_WORK].split()[0]) > _TOO_BUSY


def _postgres_version() -> str:
    command = [str(binary("postgres")), "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.split()[-1]


def _sync_milliseconds() -> float:
    """Time what every durable commit must wait for, where the database's files will be."""
    times = []
    with tempfile.TemporaryFile() as file:
        for _ in range(_SYNCS):
            began = time.perf_counter()
            os.pwrite(file.fileno(), _PAGE, 0)
            os.fsync(file.fileno())
            times.append((time.perf_counter() - began) * 1000)
    return percentile(times, 0.5)
