"""The home of one sandbox: every file that `farthing up` keeps, and who holds it."""

import re
import secrets
from pathlib import Path
from typing import Self

import msgspec

from farthing.cli.sandbox import NAME, HomeError, Sandbox, damage, read_sandbox
from farthing.config import MASTER_KEY_BYTES, SANDBOX_KEY_MARK
from farthing.db.embedded.folder import Lock, write_private


class Home:
    """A folder that one `farthing up` at a time holds; also a context manager."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.postgres = self.folder / "postgres"
        self.master_key_file = self.folder / "master.key"
        self.sandbox_file = self.folder / NAME
        self._lock = Lock(self.folder / "lock")

    def __enter__(self) -> Self:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            (self.folder / "logs").mkdir(mode=0o700, exist_ok=True)
            taken = self._lock.take()
        except OSError as error:
            raise HomeError(
                f"The home {self.folder} cannot be used: {error.strerror}. Give another folder "
                "with --home, or make this one writable."
            ) from None
        if not taken:
            raise self._held_by_another()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def _held_by_another(self) -> HomeError:
        holder = self._lock.holder()
        return HomeError(
            f"Another `farthing up` runs in {self.folder}: the process {holder}. Stop it with "
            f"`kill {holder}`, or give another folder with --home."
        )

    def log(self, name: str) -> Path:
        """Return the log file of one part."""
        return self.folder / "logs" / f"{name}.log"

    def master_key(self) -> bytes:
        """Return the master key; it is made once, before there is any data that needs it."""
        if not self.master_key_file.exists() and not (self.postgres / "data").exists():
            drawn = secrets.token_bytes(MASTER_KEY_BYTES - len(SANDBOX_KEY_MARK))
            write_private(self.master_key_file, (SANDBOX_KEY_MARK + drawn).hex())
        text = self._read(self.master_key_file)
        if text is None or re.fullmatch(r"[0-9a-fA-F]{64}", text.strip()) is None:
            raise damage(self.master_key_file)
        return bytes.fromhex(text)

    def sandbox(self) -> Sandbox | None:
        """Return what was written when the sandbox was last ready; None before the first time."""
        return read_sandbox(self.folder)

    def write_sandbox(self, sandbox: Sandbox) -> None:
        """Tell other programs that the sandbox is ready, and with which keys."""
        text = msgspec.json.format(msgspec.json.encode(sandbox), indent=2).decode()
        write_private(self.sandbox_file, text + "\n")

    @staticmethod
    def _read(file: Path) -> str | None:
        try:
            return file.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return None
