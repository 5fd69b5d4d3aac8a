"""The parts that run beside each other: started in order, watched, stopped in reverse."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from farthing.cli.sandbox import HomeError
from farthing.db.embedded.programs import ends_with_parent

_PATIENCE: Final = 5.0
_QUICK: Final = 10.0
_QUICK_DEATHS: Final = 5
_FIRST_PAUSE: Final = 0.25
_LOG_BYTES: Final = 8_000_000
_LAST_LINES: Final = 12


class Service(Protocol):
    """What can be watched: a child process, or the embedded database."""

    log: Path

    def start(self) -> None:
        """Start it."""

    def alive(self) -> bool:
        """Tell whether it runs."""

    def stop(self) -> None:
        """Stop it, and return when it is gone."""


class Child:
    """A process that writes to a log file and ends when we end."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self.log = log
        self._command = command
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process in a session of its own, where no Ctrl-C of the terminal arrives."""
        self.log.touch(mode=0o600)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own command line.
                self._command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=ends_with_parent(signal.SIGKILL),  # noqa: PLW1509 - we have no threads.
            )

    def alive(self) -> bool:
        """Tell whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """Ask the process to end, and end it when that takes too long."""
        for request in (signal.SIGTERM, signal.SIGKILL):
            if self._process is not None and self.alive():
                self._process.send_signal(request)
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(_PATIENCE)


class _Watched:
    """A service and the story of its deaths."""

    def __init__(self, name: str, service: Service) -> None:
        self.name = name
        self.service = service
        self.started = time.monotonic()
        self.quick_deaths = 0
        self.due: float | None = None

    def note_death(self) -> None:
        """Plan the next start: soon, but each time later when it dies again and again."""
        now = time.monotonic()
        self.quick_deaths = self.quick_deaths + 1 if now - self.started < _QUICK else 1
        self.due = now + _FIRST_PAUSE * 2 ** (self.quick_deaths - 1)

    def start(self) -> None:
        self.service.start()
        self.started, self.due = time.monotonic(), None


class Watch:
    """Keeps services running: what dies is started again, unless it dies again and again."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._watched: list[_Watched] = []

    def add(self, name: str, service: Service) -> None:
        """Watch a service that was just started, or that is to be stopped if its start fails."""
        self._watched.append(_Watched(name, service))

    def tend(self) -> None:
        """Look after every service once."""
        for watched in self._watched:
            bound_log(watched.service.log)
            if watched.service.alive():
                continue
            if watched.due is None:
                self._note_death(watched)
            elif time.monotonic() >= watched.due:
                watched.start()

    def stop(self) -> None:
        """Stop every service, the last one first."""
        while self._watched:
            self._watched.pop().service.stop()

    def _note_death(self, watched: _Watched) -> None:
        watched.note_death()
        if watched.quick_deaths > _QUICK_DEATHS:
            raise HomeError(
                f"The {watched.name} stopped {watched.quick_deaths} times in a row. Mend what the "
                f"end of {watched.service.log} says, then start again:\n"
                + last_lines(watched.service.log)
            )
        self._say(f"The {watched.name} stopped; starting it again.")


def last_lines(log: Path) -> str:
    """Return the end of a log, for a sentence that says what went wrong."""
    with suppress(OSError):
        lines = log.read_bytes().decode("utf-8", "replace").splitlines()
        return "\n".join(lines[-_LAST_LINES:])
    return ""


def bound_log(log: Path) -> None:
    """Keep a log that others have open small: they append, so it can be emptied in its place."""
    with suppress(OSError):
        if log.stat().st_size > _LOG_BYTES:
            shutil.copyfile(log, log.with_name(f"{log.name}.1"))
            os.truncate(log, 0)
