"""Waiting for processes, and for what they do."""

import time
from collections.abc import Callable
from contextlib import suppress

import psutil


def wait_for(fact: Callable[[], object], seconds: float = 20) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < deadline, "It did not come true in time."
        time.sleep(0.02)


def lives(process: psutil.Process) -> bool:
    """Tell whether a process runs; one that nobody has buried does not."""
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
