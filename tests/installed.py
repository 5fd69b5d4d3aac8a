"""The package as others get it: a wheel, in an environment of its own."""

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
_PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout."""
    command = [sys.executable, *_PIP, "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    _run(command)
    (wheel,) = folder.glob("farthing-*.whl")
    return wheel


class Environment:
    """An environment in which nothing is installed but what a test asks for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"
        venv.create(folder, with_pip=True, symlinks=True)

    def install(self, *wanted: str) -> None:
        """Install packages, in the versions that we try ourselves."""
        constraints = str(ROOT / "constraints.txt")
        # What is not imported need not be compiled.
        options = ("--no-compile", "--constraint", constraints)
        _run([str(self.python), *_PIP, "install", *options, *wanted])

    def run(self, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run its Python, which knows nothing of this checkout and of this test run."""
        ours = ("PYTHON", "PYTEST_", "FARTHING_", "COV_", "COVERAGE_")
        environment = {name: one for name, one in os.environ.items() if not name.startswith(ours)}
        return subprocess.run(
            [str(self.python), *arguments],
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
