"""The supervisor of one PostgreSQL server: it starts, watches and stops it."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Self
from urllib.parse import quote

from farthing.db.embedded.cluster import Cluster, data_argument
from farthing.db.embedded.folder import Lock
from farthing.db.embedded.programs import (
    EmbeddedServerError,
    Programs,
    binary,
    service_account,
)

_PORT: Final = 5432
_PATIENCE: Final = 20.0
_WORD_EVERY: Final = 5.0
_LOG_BYTES: Final = 4_000_000
_LAST_LINES: Final = 10
# macOS allows 103 bytes for the path of a socket, Linux 107.
_SOCKET_PATH_BYTES: Final = 103

_SETTINGS: Final = {
    "cluster_name": "farthing",
    "listen_addresses": "",
    "port": str(_PORT),
    "unix_socket_directories": "../socket",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "wal_compression": "pglz",
    "max_wal_size": "1GB",
    "min_wal_size": "128MB",
    "checkpoint_timeout": "10min",
    # The log tells of the server, never of a statement, which could carry a customer's data.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_checkpoints": "off",
    "log_timezone": "UTC",
}

Say = Callable[[str], None]


def _silent(_: str) -> None:
    """Say nothing."""


class EmbeddedServer:
    """A PostgreSQL server whose every file is in one folder; also a context manager.

    Start it from a thread that stays: Linux stops it when the thread that started it ends.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.log = self.folder / "server.log"
        self._cluster = Cluster(self.folder, service_account())
        self._supervisor_lock = Lock(self.folder / "supervisor.lock")
        self._server_lock = Lock(self.folder / "server.lock")
        self._shortcut: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, say: Say = _silent) -> None:
        """Make the database if need be, start the server, and return when it answers a query."""
        if self.alive():
            return
        try:
            self._cluster.make_folders()
            self._take_locks(say)
            self._launch(say)
            self._wait_until_it_answers(say)
        except BaseException:
            self.stop()
            raise

    def alive(self) -> bool:
        """Tell whether the server's process runs."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """Stop the server in order, or at once when that takes too long."""
        for request in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            if self._process is not None and self.alive():
                self._process.send_signal(request)
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(_PATIENCE)
        if self._shortcut is not None:
            shutil.rmtree(self._shortcut, ignore_errors=True)
            self._shortcut = None
        self._server_lock.release()
        self._supervisor_lock.release()

    def url(self, database: str = "farthing") -> str:
        """Return the address of a database for its owner, the role `farthing`."""
        return self._url("farthing", database)

    def admin_url(self, database: str = "postgres") -> str:
        """Return the address of a database for the superuser, for tests and repairs."""
        return self._url("postgres", database)

    def _url(self, role: str, database: str) -> str:
        host, name = quote(str(self._host()), safe=""), quote(database, safe="")
        password = self._cluster.password(role)
        return f"postgresql://{role}:{password}@/{name}?host={host}&port={_PORT}"

    def _host(self) -> Path:
        return self._shortcut / "socket" if self._shortcut else self._cluster.socket

    def _take_locks(self, say: Say) -> None:
        """Take the supervisor's place, then wait until no process of an earlier server is left."""
        if not self._supervisor_lock.take():
            raise EmbeddedServerError(
                f"The database in {self.folder} is already run by the process "
                f"{self._supervisor_lock.holder()}. Stop that process, then start again."
            )
        if not self._server_lock.take():
            say("Waiting for the database of an earlier run to stop.")
            self._stop_orphan()

    def _stop_orphan(self) -> None:
        """Stop a server that outlived its supervisor; only its processes can hold this lock."""
        began = time.monotonic()
        while not self._server_lock.take():
            waited = time.monotonic() - began
            if waited > 2 * _PATIENCE:
                raise EmbeddedServerError(
                    f"A PostgreSQL of an earlier run still uses {self.folder} and does not stop. "
                    "Stop its processes, then start again."
                )
            pid = self._cluster.noted_pid()
            if pid is not None and _is_postgres(pid):
                with suppress(OSError):
                    os.kill(pid, signal.SIGINT if waited < _PATIENCE else signal.SIGQUIT)
            time.sleep(0.1)

    def _launch(self, say: Say) -> None:
        programs, lock = Programs(self._cluster.account), self._server_lock.descriptor()
        if not self._cluster.data.exists():
            say("Making a new database; this happens once.")
        self._cluster.make_data_once(programs, lock)
        self._cluster.check()
        self._cluster.clear_traces()
        self._shorten_socket_path()
        self._start_process(programs, lock)
        # From here on only the server's processes hold the lock, and it is free when all are gone.
        self._server_lock.release()

    def _shorten_socket_path(self) -> None:
        """Give clients a short way in, when the real one is too long or splits at a comma."""
        path = os.fsencode(self._cluster.socket / f".s.PGSQL.{_PORT}")
        if self._shortcut is None and (len(path) > _SOCKET_PATH_BYTES or b"," in path):
            self._shortcut = Path(tempfile.mkdtemp(prefix="farthing-"))
            (self._shortcut / "socket").symlink_to(self._cluster.socket)

    def _start_process(self, programs: Programs, lock: int) -> None:
        if self.log.exists() and self.log.stat().st_size > _LOG_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))
        self.log.touch(mode=0o600)
        self._log_start = self.log.stat().st_size
        data = self._cluster.data
        settings = [f"--{name}={value}" for name, value in _SETTINGS.items()]
        with self.log.open("ab") as log:
            self._process = programs.start(
                "postgres", "-D", data_argument(data), *settings, cwd=data, lock=lock, log=log
            )

    def _wait_until_it_answers(self, say: Say) -> None:
        """Wait as long as the process lives: recovery after a crash takes what it takes."""
        next_word = time.monotonic() + _WORD_EVERY
        while refusal := self._refusal():
            if not self.alive():
                raise self._death()
            # A server that is up and still refuses us will not change its mind.
            if "FATAL:" in refusal and "the database system is" not in refusal:
                raise self._cluster.damage(f"The database refuses its owner: {refusal}.")
            if time.monotonic() > next_word:
                next_word = time.monotonic() + _WORD_EVERY
                say("The database is still recovering; this can take minutes after a crash.")
            time.sleep(0.02)

    def _refusal(self) -> str:
        """Ask a real question over a real connection; return why it failed, or nothing."""
        environment = {
            "LC_ALL": "C",
            "PGHOST": str(self._host()),
            "PGPORT": str(_PORT),
            "PGUSER": "farthing",
            "PGDATABASE": "farthing",
            "PGPASSWORD": self._cluster.password("farthing"),
            "PGCONNECT_TIMEOUT": "10",
        }
        done = subprocess.run(  # noqa: S603 - PostgreSQL's own programs
            [binary("psql"), "--no-psqlrc", "--no-password", "--command=SELECT 1"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return " ".join(done.stderr.split()) if done.returncode else ""

    def _death(self) -> EmbeddedServerError:
        with self.log.open("rb") as log:
            log.seek(self._log_start)
            lines = log.read().decode("utf-8", "replace").splitlines()[-_LAST_LINES:]
        return EmbeddedServerError(
            f"PostgreSQL ended while it started. Mend what its last words say; when its data is "
            f"damaged, restore {self.folder} from a backup, or move it away to begin with an "
            f"empty database. From {self.log}:\n" + "\n".join(lines)
        )


def _is_postgres(pid: int) -> bool:
    """Tell whether the process is a PostgreSQL; where nobody can say, the lock must do."""
    if sys.platform != "linux":
        return True
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text("utf-8").strip() == "postgres"
    return False
