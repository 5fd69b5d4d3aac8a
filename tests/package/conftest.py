"""The package as `python -m build` gives it, built once per run."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.alone import made_once, shared_folder

ROOT = Path(__file__).parents[2]
PATIENCE = 300


def _build(folder: Path) -> None:
    # In an environment of its own, with what pyproject.toml names and nothing of ours.
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder with the wheel and the source distribution."""
    return made_once(shared_folder(tmp_path_factory, "dist"), _build)


@pytest.fixture(scope="session")
def wheel(dist: Path) -> Path:
    (found,) = dist.glob("farthing-*.whl")
    return found
