"""The wheel in an empty environment: it installs, and `farthing up` is a sandbox."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cli.test_up import CUSTOMER, Sandbox
from tests.package.conftest import PATIENCE, ROOT

from farthing import __version__

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Empty:
    """A folder with an environment of its own; nothing in it leads to the checkout."""

    folder: Path

    @property
    def environ(self) -> dict[str, str]:
        where = {"HOME": str(self.folder), "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"}
        # Where packages come from is the machine's choice.
        return where | {name: one for name, one in os.environ.items() if name.startswith("PIP_")}

    def program(self, name: str) -> str:
        return str(self.folder / "venv" / "bin" / name)

    def run(self, command: Sequence[str | Path]) -> str:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def empty(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Empty:
    """Give an environment in which nothing but the wheel was installed."""
    made = Empty(tmp_path_factory.mktemp("empty"))
    shutil.copy(wheel, made.folder)
    shutil.copy(ROOT / "constraints.txt", made.folder)
    made.run([sys.executable, "-m", "venv", "venv"])
    # Not compiled, because most of it is never imported here.
    quiet = ("--quiet", "--disable-pip-version-check", "--no-compile")
    pinned = ("--constraint", "constraints.txt")
    made.run([made.program("pip"), "install", *quiet, *pinned, wheel.name])
    return made


def test_nothing_that_it_needs_is_missing(empty: Empty) -> None:
    assert empty.run([empty.program("pip"), "check"]) == "No broken requirements found.\n"


def test_it_says_its_version(empty: Empty) -> None:
    assert empty.run([empty.program("farthing"), "--version"]) == f"farthing {__version__}\n"


def test_it_is_not_the_checkout_that_runs(empty: Empty) -> None:
    script = "import farthing, sys; print(farthing.__file__, *sys.path, sep='\\n')"
    module, *places = empty.run([empty.program("python"), "-c", script]).splitlines()
    assert Path(module).is_relative_to(empty.folder / "venv")
    assert not any(Path(one).is_relative_to(ROOT) for one in places)


def test_up_is_a_sandbox_that_takes_requests(empty: Empty) -> None:
    home = empty.folder / "home"
    process = subprocess.Popen(
        [empty.program("farthing"), "up", "--home", home, "--port", "0"],
        cwd=empty.folder,
        env=empty.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            sandbox = Sandbox(home, process)
            status, customer = sandbox.call("POST", "/v1/customers", CUSTOMER)
            assert (status, customer["name"]) == (201, "Ada")
            assert sandbox.call("GET", "/openapi.json")[1]["info"]["version"] == __version__
            sandbox.stop(signal.SIGINT)
        finally:
            process.kill()
