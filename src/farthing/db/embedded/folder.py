"""Private files, and locks that die with their holder."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_PRIVATE: Final = 0o600


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner reads: all of it or nothing, even through a power cut."""
    draft = path.with_name(f".{path.name}.draft")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, as `fsync` of a file does only for its content."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Lock:
    """A lock on a file, which the kernel opens when the last process that holds it is gone."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def take(self) -> bool:
        """Take the lock and note our process in it; False when another holds it."""
        if self._descriptor is not None:
            return True
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, _PRIVATE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._descriptor = descriptor
        return True

    def descriptor(self) -> int:
        """Return the descriptor of a lock that was taken; a child that inherits it holds it too."""
        if self._descriptor is None:
            raise RuntimeError("This lock was not taken.")
        return self._descriptor

    def holder(self) -> str:
        """Return the process that took the lock last, for a sentence to people."""
        text = ""
        with suppress(OSError):
            text = self._path.read_text("ascii", "replace").strip()
        return text if text.isdigit() else "unknown"

    def release(self) -> None:
        """Let go of the lock; the children that inherited it keep it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
