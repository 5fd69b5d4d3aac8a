"""What is made once per run, however many workers there are."""

import fcntl
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def made_once(folder: Path, make: Callable[[Path], None]) -> Path:
    """Return a folder that the first who needs it makes; whoever comes meanwhile waits for it."""
    done = folder.with_name(f"{folder.name}.done")
    with _locked(folder):
        if not done.exists():
            # What was left by somebody who did not finish is not to be trusted.
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            done.touch()
    return folder


def shared_folder(factory: pytest.TempPathFactory, name: str) -> Path:
    """Return where a folder for all workers of this run can be made."""
    base = factory.getbasetemp()
    # Each worker has a folder of its own in that of the run.
    return (base.parent if base.name.startswith("popen-") else base) / name
