"""`farthing up`: a whole sandbox from one command, and nothing of it left after Ctrl-C."""

import errno
import http.client
import os
import shlex
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NoReturn

import msgspec
from rich.console import Console

from farthing.cli.home import Home
from farthing.cli.sandbox import DEFAULT_HOME, HomeError, Sandbox
from farthing.cli.services import Child, Watch, last_lines
from farthing.config import Settings, SettingsError
from farthing.db.embedded import EmbeddedServer, EmbeddedServerError

Prepare = Callable[[str, bytes, Sandbox | None], Sandbox]

# `-P` keeps files of the folder where the command is given from posing as our modules.
COMMAND: Final = (sys.executable, "-P", "-m", "farthing")
_STOPS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# A service that listens on every address is reached on the one of this machine alone.
_REACHED_AT: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - the user's choice.
_READY_SECONDS: Final = 60.0
_PORT_SECONDS: Final = 1.0
_TICK: Final = 0.1
_OK: Final = 200
_CONSOLE: Final = Console()


def _never() -> bool:
    return False


def up(
    home: Path,
    port: int,
    command: Sequence[str] = COMMAND,
    until: Callable[[], bool] = _never,
) -> None:
    """Run a sandbox in a home until a signal stops it, or `until`; port 0 chooses a free one."""
    if Settings.load().environment == "live":
        raise SettingsError(
            "FARTHING_ENVIRONMENT is `live`, and `farthing up` starts a sandbox. Take it away, or "
            "run `farthing serve` and `farthing worker`."
        )
    with _signals_interrupt(), suppress(KeyboardInterrupt), Home(home) as held:
        from farthing.cli.bootstrap import prepare  # noqa: PLC0415 - slow, and now interruptible.

        try:
            _Up(held, port, command, prepare).run(until)
        except EmbeddedServerError as error:
            raise HomeError(str(error)) from None


class _Up:
    """One run of everything."""

    def __init__(self, home: Home, port: int, command: Sequence[str], prepare: Prepare) -> None:
        host = Settings.load().host
        self._home = home
        self._host = _REACHED_AT.get(host, host)
        self._port = _free_port(host, port)
        self._command = command
        self._prepare = prepare
        self._began = time.monotonic()
        self._watch = Watch(say)
        self._database = EmbeddedServer(home.postgres)

    def run(self, until: Callable[[], bool]) -> None:
        """Start everything, tell how to use it, and look after it until it is time to stop."""
        try:
            sandbox = self._start()
            self._home.write_sandbox(sandbox)
            self._tell(sandbox)
            while not until():
                self._watch.tend()
                time.sleep(_TICK)
        finally:
            _ignore_signals()
            self._watch.stop()
            say("Everything has stopped.")

    def _start(self) -> Sandbox:
        master_key, known = self._home.master_key(), self._home.sandbox()
        self._start_database()
        sandbox = self._prepare(self._database.url(), master_key, known)
        self._done("migrations and demo tenant")
        self._start_child("API", "serve")
        self._start_child("worker", "worker")
        self._wait_until_ready()
        self._done("API and worker")
        return msgspec.structs.replace(sandbox, base_url=self._base_url())

    def _start_database(self) -> None:
        self._watch.add("database", self._database)
        self._database.start(say)
        self._done("database")

    def _start_child(self, name: str, verb: str) -> None:
        child = Child((*self._command, verb), self._environment(), self._home.log(verb))
        self._watch.add(name, child)
        child.start()

    def _environment(self) -> dict[str, str]:
        """Return the caller's environment with what is ours; our key comes from its file alone."""
        environment = os.environ | {
            "FARTHING_DATABASE_URL": self._database.url(),
            "FARTHING_MASTER_KEY_FILE": str(self._home.master_key_file),
            "FARTHING_ENVIRONMENT": "sandbox",
            "FARTHING_PORT": str(self._port),
            "FARTHING_WEBHOOK_PRIVATE": "true",
        }
        environment.pop("FARTHING_MASTER_KEY", None)
        return environment

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        while not self._is_ready():
            self._watch.tend()
            if time.monotonic() > deadline:
                log = self._home.log("serve")
                raise HomeError(
                    f"The API was not ready within {_READY_SECONDS:.0f} seconds. Mend what the end "
                    f"of {log} says, then start again:\n{last_lines(log)}"
                )
            time.sleep(_TICK / 2)

    def _is_ready(self) -> bool:
        connection = http.client.HTTPConnection(self._host, self._port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == _OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _base_url(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    def _done(self, step: str) -> None:
        now = time.monotonic()
        say(f"Ready: {step} ({now - self._began:.1f} s).")
        self._began = now

    def _tell(self, sandbox: Sandbox) -> None:
        say(f"\nThe sandbox answers at {sandbox.base_url}.")
        say(f"Its keys are in {self._home.sandbox_file}.")
        say("Ctrl-C stops it, and the same command goes on where it stopped.")
        folder = self._home.folder
        where = "" if folder == DEFAULT_HOME else f" --home {shlex.quote(str(folder))}"
        say(f"In a second terminal, `farthing demo{where}` plays a day of a marketplace. Try it:\n")
        # The key is read by the shell when it runs this, and so stays out of its history.
        file = shlex.quote(str(self._home.sandbox_file))
        read_key = rf"""sed -n 's/.*"apiKey": "\(.*\)".*/\1/p' {file}"""
        say(
            f'curl -s {sandbox.base_url}/v1/customers -H "X-Token: $({read_key})" '
            '-H \'Content-Type: application/json\' -d \'{"type":"INDIVIDUAL","name":"Ada"}\'\n'
        )


def say(sentence: str) -> None:
    """Tell the terminal, as long as there is one: to stop in order matters more."""
    with suppress(OSError):
        _CONSOLE.print(sentence, markup=False, highlight=False, soft_wrap=True)


def _free_port(host: str, port: int) -> int:
    """Return the port if it is free, before anything heavy starts, or a free one for 0.

    The service of a run that was killed may need a moment to go.
    """
    deadline = time.monotonic() + _PORT_SECONDS
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    while True:
        try:
            with socket.create_server((host, port), family=family) as probe:
                return int(probe.getsockname()[1])
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                reason = str(error.strerror).partition(" (")[0]
                raise HomeError(
                    f"Cannot listen on {host}:{port}: {reason}. Give another port with --port, or "
                    "stop what uses this one."
                ) from None
        time.sleep(_TICK)


@contextmanager
def _signals_interrupt() -> Iterator[None]:
    """Let the first signal to stop interrupt us wherever we are; `nohup` keeps its meaning."""
    before = {number: signal.getsignal(number) for number in _STOPS}
    for number in _STOPS:
        if number != signal.SIGHUP or before[number] != signal.SIG_IGN:
            signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(*_: object) -> NoReturn:
    _ignore_signals()
    raise KeyboardInterrupt


def _ignore_signals() -> None:
    """Let no further signal disturb us while we stop, which takes seconds."""
    for number in _STOPS:
        signal.signal(number, signal.SIG_IGN)
