"""The files of one PostgreSQL: its secret, its data made once, and what a dead server left."""

import hmac
import os
import re
import secrets
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from farthing.db.embedded.folder import sync_folder, write_private
from farthing.db.embedded.programs import Account, EmbeddedServerError, Programs

_MAJOR: Final = "18"
_INITDB: Final = (
    "--username=postgres",
    "--pwfile=../password",
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--data-checksums",
)


def data_argument(data: Path) -> str:
    """Return how PostgreSQL, started inside its data folder, is told where that is.

    It wants an absolute path, but run by root as nobody it may be unable to walk the real one.
    This one leads to its working folder, which is the data folder from its first to its last day.
    """
    return "/proc/self/cwd" if sys.platform == "linux" else str(data)


class Cluster:
    """The folder that holds everything of one PostgreSQL."""

    def __init__(self, folder: Path, account: Account) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.socket = folder / "socket"
        self._secret_file = folder / "secret"
        self._pid_file = self.data / "postmaster.pid"
        self.account = account

    def make_folders(self) -> None:
        """Make the folders, closed to others; root's group lets the account pass through."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.socket.mkdir(mode=0o700, exist_ok=True)
            os.chown(self.folder, os.geteuid(), self.account.gid)
            self.folder.chmod(0o700 if self.account.uid == os.geteuid() else 0o710)
            os.chown(self.socket, *self.account)
            self.socket.chmod(0o700)
        except OSError as error:
            raise EmbeddedServerError(
                f"The database folder {self.folder} cannot be used: {error.strerror}. Choose a "
                "folder that belongs to the user who runs Farthing."
            ) from None

    def make_data_once(self, programs: Programs, lock: int) -> None:
        """Make the data aside and rename it at the end, so that there is never half of it."""
        for leftover in self.folder.glob("making-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        if self.data.exists():
            return
        write_private(self._secret_file, secrets.token_hex(32))
        making = Path(tempfile.mkdtemp(prefix="making-", dir=self.folder))
        try:
            self._make_data(programs, making, lock)
            (making / "data").rename(self.data)
            sync_folder(self.folder)
        finally:
            shutil.rmtree(making, ignore_errors=True)

    def check(self) -> None:
        """Refuse files that no start can mend, with a sentence; PostgreSQL checks the rest."""
        version = ""
        with suppress(OSError, UnicodeDecodeError):
            version = (self.data / "PG_VERSION").read_text("ascii").strip()
        if version != _MAJOR:
            raise self.damage(f"The folder {self.data} holds no data of PostgreSQL {_MAJOR}.")
        if self.data.stat().st_uid != self.account.uid:
            raise EmbeddedServerError(
                f"The folder {self.data} belongs to the user {self.data.stat().st_uid}, and "
                f"PostgreSQL would run as {self.account.uid}. Run Farthing as the user who made it."
            )
        self.password("farthing")

    def password(self, role: str) -> str:
        """Return the password of a role, derived from the one secret in the folder."""
        text = ""
        with suppress(OSError, UnicodeDecodeError):
            text = self._secret_file.read_text("ascii")
        if re.fullmatch(r"[0-9a-f]{64}", text) is None:
            raise self.damage(f"The password file {self._secret_file} is missing or damaged.")
        return hmac.digest(bytes.fromhex(text), role.encode(), "sha256").hex()

    def damage(self, what: str) -> EmbeddedServerError:
        """Return the error for files that only their owner can bring back."""
        return EmbeddedServerError(
            f"{what} Restore it from a backup, or move {self.folder} away to begin with an empty "
            "database."
        )

    def noted_pid(self) -> int | None:
        """Return the process that PostgreSQL noted; it may be long gone, or be another's by now."""
        try:
            return int(self._pid_file.read_bytes().partition(b"\n")[0])
        except (OSError, ValueError):
            return None

    def clear_traces(self) -> None:
        """Keep a note of a dead server from stopping the next one, when no server is left.

        PostgreSQL refuses to start while the noted process exists, whoever that is by now. Our
        own number instead makes it pass over the process, since a parent is no rival, and look
        only at the shared memory that is noted too: that check is exact.
        """
        for trace in self.socket.iterdir():
            trace.unlink()
        with suppress(FileNotFoundError):
            rest = self._pid_file.read_bytes().partition(b"\n")[2]
            descriptor = os.open(self._pid_file, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW)
            with os.fdopen(descriptor, "wb") as file:
                file.write(f"{os.getpid()}\n".encode() + rest)

    def _make_data(self, programs: Programs, making: Path, lock: int) -> None:
        data, password = making / "data", making / "password"
        data.mkdir(mode=0o700)
        password.write_text(self.password("postgres"), "ascii")
        for path in (making, data, password):
            os.chown(path, *self.account)
        where = ("-D", data_argument(data))
        self._run(programs, ("initdb", *where, *_INITDB), data, lock)
        alone = ("postgres", "--single", *where, "-c", "log_checkpoints=off", "postgres")
        self._run(programs, alone, data, lock, self._first_statements())

    def _run(
        self, programs: Programs, command: tuple[str, ...], cwd: Path, lock: int, text: str = ""
    ) -> None:
        done = programs.run(*command, cwd=cwd, lock=lock, text=text)
        # The single-user mode ends well even when a statement failed.
        if done.returncode != 0 or "ERROR:" in done.stderr:
            raise EmbeddedServerError(
                f"PostgreSQL could not make a database in {self.folder}: "
                f"{' '.join(done.stderr.split()) or 'it was stopped'}. Mend that, then start again."
            )

    def _first_statements(self) -> str:
        """Return one statement a line, as the single-user mode reads them."""
        return (
            f"CREATE ROLE farthing LOGIN CREATEROLE PASSWORD '{self.password('farthing')}'\n"
            "CREATE DATABASE farthing OWNER farthing\n"
        )
