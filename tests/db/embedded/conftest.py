"""One pattern of a server that every test copies, and ways to look at its processes."""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psutil
import pytest

from farthing.db.embedded import EmbeddedServer, binary
from farthing.db.embedded.folder import Lock

START_AND_STAY = """
import sys, time
from pathlib import Path
from farthing.db.embedded import EmbeddedServer
embedded = EmbeddedServer(Path(sys.argv[1]))
embedded.start()
print("ready", flush=True)
time.sleep(600)
"""

Supervisor = Callable[..., AbstractContextManager[subprocess.Popen[str]]]


def _ask(url: str, sql: str) -> str:
    command = (binary("psql"), "-XAtw", url, "-c", sql)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr.strip()


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-a", source, target], check=True)  # noqa: S607 - it keeps the owners.


@pytest.fixture
def ask() -> Callable[[str, str], str]:
    """Give what psql answers to a statement, or why it does not."""
    return _ask


def _anything_runs(folder: Path) -> bool:
    """Ask the lock that every process of a server holds; a zombie holds nothing."""
    lock = Lock(folder / "server.lock")
    free = lock.take()
    lock.release()
    return not free


@pytest.fixture
def processes_of() -> Callable[[Path], list[psutil.Process]]:
    """Give the processes of the server in a folder, the postmaster first."""

    def find(folder: Path) -> list[psutil.Process]:
        if not _anything_runs(folder):
            return []
        postmaster = psutil.Process(int((folder / "data/postmaster.pid").read_text().split()[0]))
        return [postmaster, *postmaster.children(recursive=True)]

    return find


@pytest.fixture
def anything_runs() -> Callable[[Path], bool]:
    return _anything_runs


@pytest.fixture
def wait_for() -> Callable[[Callable[[], object]], None]:
    def wait(fact: Callable[[], object]) -> None:
        deadline = time.monotonic() + 10
        while not fact():
            assert time.monotonic() < deadline, "It did not come true in time."
            time.sleep(0.02)

    return wait


@pytest.fixture
def supervisor() -> Supervisor:
    """Give a Python of its own that starts a server and stays, after some lines of the test."""

    @contextmanager
    def start(folder: Path, *, first: str = "") -> Iterator[subprocess.Popen[str]]:
        command = [sys.executable, "-c", first + START_AND_STAY, str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                yield process
            finally:
                process.kill()

    return start


@pytest.fixture(scope="module")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make one stopped server with a row in it."""
    folder = tmp_path_factory.mktemp("pattern") / "postgres"
    with EmbeddedServer(folder) as embedded:
        _ask(embedded.url(), "CREATE TABLE kept AS SELECT 'here' AS word")
    return folder


@pytest.fixture
def folder(pattern: Path, tmp_path: Path) -> Path:
    _copy(pattern, tmp_path / "postgres")
    return tmp_path / "postgres"


@pytest.fixture
def embedded(folder: Path) -> Iterator[EmbeddedServer]:
    with EmbeddedServer(folder) as embedded:
        yield embedded


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Give a folder that every user can walk into, as those of pytest are closed."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)
