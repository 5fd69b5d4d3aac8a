"""The supervisor: it starts, it stops, and no kill loses a row or leaves a process."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import asyncpg
import psutil
import pytest

from farthing.db.embedded import EmbeddedServer, EmbeddedServerError, server

Ask = Callable[[str, str], str]
ProcessesOf = Callable[[Path], list[psutil.Process]]
AnythingRuns = Callable[[Path], bool]
WaitFor = Callable[[Callable[[], object]], None]
Supervisor = Callable[..., AbstractContextManager[subprocess.Popen[str]]]

pytestmark = pytest.mark.slow

WITHOUT_THE_KERNELS_HELP = """
from farthing.db.embedded import programs
programs.ends_with_parent = lambda last_signal: lambda: None
"""


def said_ready(process: subprocess.Popen[str]) -> bool:
    assert process.stdout is not None
    return process.stdout.readline() == "ready\n"


async def test_it_answers_asyncpg_as_the_owner_of_its_database(embedded: EmbeddedServer) -> None:
    connection = await asyncpg.connect(embedded.url())
    owner = await connection.fetchval(
        "SELECT datdba::regrole::text FROM pg_database WHERE datname = 'farthing'"
    )
    await connection.close()
    assert owner == "farthing"


def test_the_owner_is_no_superuser_but_can_make_a_role_and_become_it(
    embedded: EmbeddedServer, ask: Ask
) -> None:
    assert "permission denied" in ask(embedded.url(), "COPY (SELECT 1) TO PROGRAM 'true'")
    become = "CREATE ROLE app NOLOGIN; GRANT app TO CURRENT_USER; SET ROLE app; SELECT CURRENT_USER"
    assert ask(embedded.url(), become).endswith("app")


def test_it_is_set_for_money(embedded: EmbeddedServer, ask: Ask) -> None:
    expected = {
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        "data_checksums": "on",
        "server_encoding": "UTF8",
        "listen_addresses": "",
        "TimeZone": "UTC",
    }
    assert {name: ask(embedded.url(), f"SHOW {name}") for name in expected} == expected


def test_no_connection_without_the_password(embedded: EmbeddedServer, ask: Ask) -> None:
    password = embedded.url().split(":")[2].split("@")[0]
    assert "no password supplied" in ask(embedded.url().replace(f":{password}@", "@"), "SELECT 1")
    assert "authentication failed" in ask(embedded.url().replace(password, "guess"), "SELECT 1")
    assert password not in embedded.admin_url()
    assert ask(embedded.admin_url(), "SELECT 1") == "1"


def test_its_files_are_closed_to_others(embedded: EmbeddedServer) -> None:
    def mode(name: str) -> int:
        return stat.S_IMODE((embedded.folder / name).stat().st_mode)

    assert mode("socket") == mode("data") == 0o700
    assert mode("secret") == mode("server.log") == 0o600
    assert mode(".") & stat.S_IRWXO == 0


def test_it_is_in_a_session_of_its_own_where_no_ctrl_c_arrives(
    embedded: EmbeddedServer, processes_of: ProcessesOf
) -> None:
    sessions = {os.getsid(process.pid) for process in processes_of(embedded.folder)}
    assert sessions
    assert os.getsid(0) not in sessions


def test_a_restart_keeps_the_data(folder: Path, ask: Ask, anything_runs: AnythingRuns) -> None:
    for _ in range(2):
        with EmbeddedServer(folder) as embedded:
            assert ask(embedded.url(), "SELECT word FROM kept") == "here"
    assert not anything_runs(folder)


def test_a_killed_server_recovers_what_it_acknowledged(
    embedded: EmbeddedServer, ask: Ask, processes_of: ProcessesOf, wait_for: WaitFor
) -> None:
    ask(embedded.url(), "INSERT INTO kept VALUES ('acknowledged')")
    processes_of(embedded.folder)[0].kill()
    wait_for(lambda: not embedded.alive())
    embedded.start()
    assert ask(embedded.url(), "SELECT count(*) FROM kept") == "2"


def test_to_stop_a_dead_server_or_to_stop_twice_is_no_error(
    embedded: EmbeddedServer, processes_of: ProcessesOf
) -> None:
    processes_of(embedded.folder)[0].kill()
    embedded.stop()
    embedded.stop()
    assert not embedded.alive()


@pytest.mark.skipif(sys.platform != "linux", reason="Only Linux tells a child of this death.")
def test_it_ends_when_its_parent_is_killed(
    folder: Path, supervisor: Supervisor, anything_runs: AnythingRuns, wait_for: WaitFor
) -> None:
    with supervisor(folder) as parent:
        assert said_ready(parent)
        assert anything_runs(folder)
        parent.kill()
        wait_for(lambda: not anything_runs(folder))


def test_an_orphan_is_stopped_before_the_next_start(
    folder: Path, supervisor: Supervisor, ask: Ask, processes_of: ProcessesOf
) -> None:
    with supervisor(folder, first=WITHOUT_THE_KERNELS_HELP) as parent:
        assert said_ready(parent)
    orphans = processes_of(folder)
    said: list[str] = []
    embedded = EmbeddedServer(folder)
    embedded.start(said.append)
    assert ask(embedded.url(), "SELECT word FROM kept") == "here"
    assert orphans
    assert not set(orphans) & set(processes_of(folder))
    embedded.stop()
    assert said == ["Waiting for the database of an earlier run to stop."]


def test_a_second_supervisor_is_refused_and_told_who_runs(
    embedded: EmbeddedServer, ask: Ask
) -> None:
    with pytest.raises(EmbeddedServerError, match=rf"run by the process {os.getpid()}\. Stop"):
        EmbeddedServer(embedded.folder).start()
    assert ask(embedded.url(), "SELECT 1") == "1"


def test_a_long_recovery_is_waited_for_and_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["FATAL: the database system is starting up"] * 3 + [""])
    monkeypatch.setattr(EmbeddedServer, "_refusal", lambda _: next(answers))
    monkeypatch.setattr(server, "_WORD_EVERY", 0.0)
    said: list[str] = []
    embedded = EmbeddedServer(folder)
    embedded.start(said.append)
    embedded.stop()
    assert said == ["The database is still recovering; this can take minutes after a crash."] * 3


def test_an_old_log_makes_room(folder: Path) -> None:
    with (folder / "server.log").open("wb") as log:
        log.truncate(5_000_000)
    with EmbeddedServer(folder) as embedded:
        assert embedded.log.stat().st_size < 10_000
    assert (folder / "server.log.1").stat().st_size == 5_000_000
