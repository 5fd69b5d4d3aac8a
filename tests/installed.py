"""The package as others get it: built once per run, in an environment of its own."""

import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.alone import made_once, shared_folder

ROOT = Path(__file__).parents[1]
PATIENCE = 300


def built(factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the wheel and the source distribution of this checkout."""
    return made_once(shared_folder(factory, "dist"), _build)


def wheel_in(folder: Path) -> Path:
    """Return the wheel among what was built."""
    (found,) = folder.glob("farthing-*.whl")
    return found


def _build(folder: Path) -> None:
    # In an environment of its own, with what pyproject.toml names and nothing of ours.
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


class Environment:
    """A folder where nothing is installed but what a test asks for, and nothing leads here."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.create(folder / "venv", with_pip=True, symlinks=True)

    @property
    def environ(self) -> dict[str, str]:
        """What its programs know of the machine: next to nothing."""
        where = {"HOME": str(self.folder), "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"}
        # Where packages come from is the machine's choice.
        return where | {name: one for name, one in os.environ.items() if name.startswith("PIP_")}

    def program(self, name: str) -> str:
        """Return where one of its programs is."""
        return str(self.folder / "venv" / "bin" / name)

    def install(self, *wanted: str | Path) -> None:
        """Install packages, in the versions that we try ourselves."""
        constraints = ("--constraint", ROOT / "constraints.txt")
        # What is not imported need not be compiled.
        quiet = ("--quiet", "--disable-pip-version-check", "--no-compile")
        self.run([self.program("pip"), "install", *quiet, *constraints, *wanted])

    def run(self, command: Sequence[str | Path], folder: Path | None = None) -> str:
        """Run a program, see that it ends well, and return what it said."""
        done = subprocess.run(
            command,
            cwd=folder or self.folder,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
