"""The home: made once, held by one, and its damage told in a sentence."""

import os
import stat
from pathlib import Path

import msgspec
import pytest

from farthing.cli.home import Home
from farthing.cli.sandbox import HomeError, Sandbox

SANDBOX = Sandbox("http://127.0.0.1:4960", "api", "operator", "customer/1")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_home_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    with Home(tmp_path / "new" / "home") as home:
        assert mode(home.folder) == 0o700


def test_the_master_key_is_made_once_and_private(tmp_path: Path) -> None:
    with Home(tmp_path) as home:
        first = home.master_key()
        assert len(first) == 32
        assert home.master_key() == first
        assert home.master_key_file.read_text() == first.hex()
        assert mode(home.master_key_file) == 0o600


@pytest.mark.parametrize("text", ["", "short", "g" * 64, "\x00"])
def test_a_damaged_master_key_is_never_replaced(tmp_path: Path, text: str) -> None:
    (tmp_path / "master.key").write_text(text)
    with Home(tmp_path) as home, pytest.raises(HomeError, match=r"master\.key .* Restore it from"):
        home.master_key()
    assert (tmp_path / "master.key").read_text() == text


def test_a_lost_master_key_is_not_made_anew_for_old_data(tmp_path: Path) -> None:
    (tmp_path / "postgres" / "data").mkdir(parents=True)
    with Home(tmp_path) as home, pytest.raises(HomeError, match="is missing or damaged"):
        home.master_key()


def test_the_sandbox_is_unknown_before_it_is_written_and_then_kept(tmp_path: Path) -> None:
    with Home(tmp_path) as home:
        assert home.sandbox() is None
        home.write_sandbox(SANDBOX)
        assert home.sandbox() == SANDBOX
        assert mode(home.sandbox_file) == 0o600
        assert msgspec.json.decode(home.sandbox_file.read_bytes()) == {
            "baseUrl": "http://127.0.0.1:4960",
            "apiKey": "api",
            "operatorKey": "operator",
            "tenantId": "customer/1",
        }


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"baseUrl": "x"}', b"\xff"])
def test_a_damaged_sandbox_file_is_told(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "sandbox.json").write_bytes(text)
    with Home(tmp_path) as home, pytest.raises(HomeError, match=r"sandbox\.json .* Restore it"):
        home.sandbox()


def test_a_second_holder_is_told_who_the_first_one_is(tmp_path: Path) -> None:
    held = f"the process {os.getpid()}. Stop it with `kill {os.getpid()}`"
    with Home(tmp_path), pytest.raises(HomeError, match=held), Home(tmp_path):
        pass


def test_a_home_is_free_again_after_its_holder(tmp_path: Path) -> None:
    for _ in range(2):
        with Home(tmp_path):
            pass


def test_a_file_in_the_place_of_the_home_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "home"):
        with pytest.raises(HomeError, match=r"cannot be used: .*--home"), Home(place):
            pass


def test_a_home_that_is_not_writable_is_told() -> None:
    # Not even root can make a folder there.
    with pytest.raises(HomeError, match=r"cannot be used: .*--home"), Home(Path("/proc/home")):
        pass
