"""Requests to stop: each ends the run in the same order, and none disturbs that end."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_STOPS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """Let every request to stop end in the same order as Ctrl-C."""
    for number in _STOPS:
        signal.signal(number, signal.default_int_handler)
    yield


@contextmanager
def undisturbed_end() -> Iterator[None]:
    """Let no further signal disturb us while everything is stopped, which takes seconds."""
    try:
        yield
    finally:
        for number in _STOPS:
            signal.signal(number, signal.SIG_IGN)
