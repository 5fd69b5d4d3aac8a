"""One server per test run: whoever comes first has it started, and whoever leaves last waits."""

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from farthing.cli.sandbox import Sandbox
from farthing.config import PREFIX
from farthing.db.embedded.folder import Lock
from farthing.testing.keeper import HOME, KEEPER, USERS

# Whoever starts or stops the server holds this one, so that nobody comes between.
_DOOR: Final = "door.lock"
_COMMAND: Final = (sys.executable, "-P", "-m", "farthing.testing.keeper")
_START_SECONDS: Final = 180.0
_STOP_SECONDS: Final = 30.0
_TICK: Final = 0.02
_LAST_CHARACTERS: Final = 3000


class ServerError(Exception):
    """The server of the test run cannot be used; the sentence says why."""


@contextmanager
def shared_server(folder: Path) -> Iterator[Sandbox]:
    """Give the server that runs in a folder, for as long as this process wants it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    users = os.open(folder / USERS, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        with _door(folder):
            fcntl.flock(users, fcntl.LOCK_SH)
            running = _find(folder) or _start(folder)
        yield running
    finally:
        _leave(folder, users)


@contextmanager
def _door(folder: Path) -> Iterator[None]:
    door = os.open(folder / _DOOR, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(door, fcntl.LOCK_EX)
        yield
    finally:
        os.close(door)


def _find(folder: Path) -> Sandbox | None:
    """Return the server that somebody else had started, if it lives."""
    return _read(folder) if _is_kept(folder) else None


def _start(folder: Path) -> Sandbox:
    # What an earlier server wrote, which was killed, is not true any more.
    _facts(folder).unlink(missing_ok=True)
    log = folder / "server.log"
    # Settings of whoever runs the tests are for another service.
    environment = {name: value for name, value in os.environ.items() if not _is_setting(name)}
    with log.open("ab") as output:
        subprocess.run(  # noqa: S603 - our own command line.
            (*_COMMAND, str(folder)),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            check=False,
        )
    deadline = time.monotonic() + _START_SECONDS
    while not _facts(folder).exists():
        if not _is_kept(folder) or time.monotonic() > deadline:
            said = log.read_text("utf-8", "replace")[-_LAST_CHARACTERS:]
            raise ServerError(f"The server of the test run did not start. From {log}:\n{said}")
        time.sleep(_TICK)
    return _read(folder)


def _leave(folder: Path, users: int) -> None:
    """Let go of the server; whoever is the last to do so waits until it is gone."""
    with _door(folder):
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_last = True
        except BlockingIOError:
            is_last = False
        os.close(users)
        deadline = time.monotonic() + _STOP_SECONDS
        while is_last and _is_kept(folder) and time.monotonic() < deadline:
            time.sleep(_TICK)


def _is_kept(folder: Path) -> bool:
    """Tell whether a keeper lives, which may still be on its way to a server."""
    lock = Lock(folder / KEEPER)
    is_free = lock.take()
    lock.release()
    return not is_free


def _is_setting(name: str) -> bool:
    return name.startswith(PREFIX)


def _facts(folder: Path) -> Path:
    return folder / HOME / "sandbox.json"


def _read(folder: Path) -> Sandbox:
    return msgspec.json.decode(_facts(folder).read_bytes(), type=Sandbox)
