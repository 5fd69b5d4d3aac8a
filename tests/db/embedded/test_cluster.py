"""The files: made whole or not at all, and their damage told in a sentence."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from farthing.db.embedded import EmbeddedServer, EmbeddedServerError
from farthing.db.embedded.programs import service_account

Ask = Callable[[str, str], str]
AnythingRuns = Callable[[Path], bool]
Supervisor = Callable[..., AbstractContextManager[subprocess.Popen[str]]]

pytestmark = pytest.mark.slow


def write_as_server(path: Path, text: str) -> None:
    path.write_text(text)
    os.chown(path, *service_account())


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """Start a process of the server's user, as PostgreSQL shies away only from those."""
    user = service_account().uid if os.geteuid() == 0 else None
    with subprocess.Popen(["sleep", "600"], user=user) as process:  # noqa: S607 - POSIX.
        yield process
        process.kill()


def test_a_noted_process_that_is_another_by_now_stops_no_start(
    folder: Path, ask: Ask, stranger: subprocess.Popen[bytes]
) -> None:
    note = f"{stranger.pid}\n{folder}/data\n1700000000\n5432\n../socket\n\n  1234567  89\nready\n"
    write_as_server(folder / "data/postmaster.pid", note)
    write_as_server(folder / "socket/.s.PGSQL.5432.lock", note)
    with EmbeddedServer(folder) as embedded:
        assert ask(embedded.url(), "SELECT word FROM kept") == "here"
    assert stranger.poll() is None


@pytest.mark.parametrize("note", ["", "no number\n", "99999999\n"])
def test_a_broken_note_of_the_process_stops_no_start(folder: Path, ask: Ask, note: str) -> None:
    write_as_server(folder / "data/postmaster.pid", note)
    with EmbeddedServer(folder) as embedded:
        assert ask(embedded.url(), "SELECT word FROM kept") == "here"


def test_two_servers_never_share_the_data_even_when_the_locks_were_deleted(
    embedded: EmbeddedServer,
) -> None:
    for name in ("supervisor.lock", "server.lock"):
        (embedded.folder / name).unlink()
    with pytest.raises(EmbeddedServerError, match=r"shared memory block .* is still in use"):
        EmbeddedServer(embedded.folder).start()
    assert embedded.alive()


def test_a_kill_while_the_database_is_made_leaves_nothing_half_made(
    tmp_path: Path, supervisor: Supervisor, ask: Ask, wait_for: Callable[[object], None]
) -> None:
    folder = tmp_path / "postgres"
    with supervisor(folder) as parent:
        wait_for(lambda: list(folder.glob("making-*/data/base")))
        parent.kill()
    assert not (folder / "data").exists()
    said: list[str] = []
    embedded = EmbeddedServer(folder)
    embedded.start(said.append)
    assert ask(embedded.url(), "SELECT 1") == "1"
    embedded.stop()
    assert said[-1] == "Making a new database; this happens once."
    assert not list(folder.glob("making-*"))


def _lose_secret(folder: Path) -> None:
    (folder / "secret").unlink()


def _damage_secret(folder: Path) -> None:
    (folder / "secret").write_bytes(b"\xff\x00")


def _swap_secret(folder: Path) -> None:
    (folder / "secret").write_text("0" * 64)


def _lose_version(folder: Path) -> None:
    (folder / "data/PG_VERSION").unlink()


def _bring_older_version(folder: Path) -> None:
    (folder / "data/PG_VERSION").write_text("16\n")


def _open_data(folder: Path) -> None:
    (folder / "data").chmod(0o777)


def _cut_control_file(folder: Path) -> None:
    os.truncate(folder / "data/global/pg_control", 100)


def _lose_wal(folder: Path) -> None:
    shutil.rmtree(folder / "data/pg_wal")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (_lose_secret, r"password file .*secret is missing or damaged\. Restore it"),
        (_damage_secret, r"password file .*secret is missing or damaged\. Restore it"),
        (_swap_secret, r"refuses its owner: .*password authentication failed"),
        (_lose_version, r"holds no data of PostgreSQL 18\. Restore it"),
        (_bring_older_version, r"holds no data of PostgreSQL 18\. Restore it"),
        (_open_data, r"Mend what its last words say(.|\n)*invalid permissions"),
        (_cut_control_file, r"Mend what its last words say(.|\n)*pg_control"),
        (_lose_wal, r"Mend what its last words say(.|\n)*pg_wal"),
    ],
)
def test_damage_is_told_in_a_sentence(
    folder: Path, anything_runs: AnythingRuns, damage: Callable[[Path], None], sentence: str
) -> None:
    damage(folder)
    with pytest.raises(EmbeddedServerError, match=sentence):
        EmbeddedServer(folder).start()
    assert not anything_runs(folder)


def test_a_file_in_the_place_of_the_folder_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "postgres"):
        with pytest.raises(EmbeddedServerError, match=r"cannot be used: .*Choose a folder"):
            EmbeddedServer(folder).start()


@pytest.fixture
def shortcuts(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the temporary folder, and keep it apart from those of other tests."""
    (open_folder / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(open_folder / "tmp"))
    return open_folder / "tmp"


@pytest.mark.parametrize(
    ("name", "shortcut"), [("long" * 40, 1), ("with, comma", 1), ("with space %2F ü", 0)]
)
def test_any_name_of_the_folder_will_do(
    pattern: Path, shortcuts: Path, ask: Ask, name: str, shortcut: int
) -> None:
    folder = shortcuts.parent / name
    folder.symlink_to(pattern)
    with EmbeddedServer(folder) as embedded:
        assert len(list(shortcuts.iterdir())) == shortcut
        assert ask(embedded.url(), "SELECT word FROM kept") == "here"
    assert not list(shortcuts.iterdir())
