"""A terminal beside a real service: the home of its sandbox is where the commands find it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import structlog
from tests.client.conftest import Running, Shop

from farthing.cli import main
from farthing.cli.sandbox import NAME, Sandbox

if TYPE_CHECKING:
    from tests.conftest import Database


@contextmanager
def silence() -> Iterator[None]:
    """Keep the log of the service, which runs in this process, out of what commands print."""
    before = structlog.get_config()
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    yield
    # Not the defaults: those show every variable of a traceback, which takes minutes.
    structlog.configure(**before)


@pytest.fixture(scope="session")
def running(database: "Database") -> Iterator[Running]:
    with silence():
        started = Running(database)
    yield started
    started.close()


@pytest.fixture
def shop(running: Running) -> Shop:
    return running.new_shop()


class Keyboard(TextIOWrapper):
    """Standard input with somebody in front of it."""

    def isatty(self) -> bool:
        return True


@dataclass(frozen=True)
class Done:
    """What a command ended with."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.out)


@dataclass(frozen=True)
class Terminal:
    """Runs commands in this process, with the environment of somebody who just began."""

    home: Path
    monkeypatch: pytest.MonkeyPatch = field(repr=False)
    capsys: pytest.CaptureFixture[str] = field(repr=False)

    def run(self, *words: str, stdin: str = "", attended: bool = False) -> Done:
        """Run a command, and return how it ended."""
        self.capsys.readouterr()
        self.monkeypatch.setattr(sys, "argv", ["farthing", *words])
        kind = Keyboard if attended else TextIOWrapper
        self.monkeypatch.setattr(sys, "stdin", kind(BytesIO(stdin.encode())))
        code: Any = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code
        shown = self.capsys.readouterr()
        return Done(int(code or 0), shown.out, shown.err)

    def __call__(self, *words: str, stdin: str = "") -> Done:
        """Run a command that must work."""
        done = self.run(*words, stdin=stdin)
        assert done.code == 0, done.err
        return done

    def ask(self, *words: str, stdin: str = "") -> Any:
        """Run a command that must work, and read what the service answered."""
        return self(*words, "--json", stdin=stdin).json


@pytest.fixture
def home(tmp_path: Path, running: Running, shop: Shop) -> Path:
    """Give a home as `farthing up` leaves it when its sandbox is ready."""
    sandbox = Sandbox(running.url, shop.key, shop.operator, shop.id)
    (tmp_path / NAME).write_bytes(msgspec.json.encode(sandbox))
    return tmp_path


@pytest.fixture
def farthing(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Terminal]:
    for name in os.environ:
        if name.startswith("FARTHING_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("FARTHING_HOME", str(home))
    with silence():
        yield Terminal(home, monkeypatch, capsys)


@pytest.fixture
def ada(farthing: Terminal) -> str:
    made = farthing.ask("customers", "create", "--type", "INDIVIDUAL", "--name", "Ada")
    return str(made["id"])


@pytest.fixture
def account(farthing: Terminal, ada: str) -> str:
    return str(farthing.ask("accounts", "create", "--owner", ada, "--currency", "GBP")["id"])
