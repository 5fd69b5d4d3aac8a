"""Test runs: one server for all processes of a run, gone with the last of them."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from tests.processes import lives, wait_for

from farthing.db.embedded.folder import Lock
from farthing.testing.keeper import HOME, KEEPER
from farthing.testing.sharing import ServerError, shared_server

pytestmark = pytest.mark.slow

CONFTEST = "from farthing.testing.plugin import farthing, farthing_server\n"
HEAVY = ("httpx2", "msgspec", "asyncpg", "starlette", "cryptography", "farthing.client")


def is_kept(folder: Path) -> bool:
    lock = Lock(folder / KEEPER)
    is_free = lock.take()
    lock.release()
    return not is_free


def members(folder: Path) -> list[psutil.Process]:
    """Find every process of the server in a folder, the keeper first."""
    found = []
    for one in psutil.process_iter(["cmdline"]):
        if (one.info["cmdline"] or [""])[-1] == str(folder):
            with suppress(psutil.NoSuchProcess):
                found += [one, *one.children(recursive=True)]
    return found


def run(folder: Path, test: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run tests in a process of their own, which knows nothing of ours."""
    (folder / "conftest.py").write_text(CONFTEST, "utf-8")
    (folder / "test_it.py").write_text(test, "utf-8")
    ours = ("PYTEST_", "COV_")
    environment = {name: one for name, one in os.environ.items() if not name.startswith(ours)}
    command = [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "-p", "no:cacheprovider"]
    command += ["--rootdir", str(folder), "--basetemp", str(folder / "run"), *arguments]
    return subprocess.run(
        [*command, str(folder)],
        env=environment | {"FARTHING_ENVIRONMENT": "live"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


SHARED = """
import pytest

@pytest.mark.parametrize("n", range(8))
def test_it(farthing, n, request):
    ada = farthing.client.customers.create(type="INDIVIDUAL", name="Ada")
    assert farthing.webhooks.expect("customer.created").object_id == ada.id
    with open(__file__ + ".urls", "a") as urls:
        print(farthing.url, request.config.workerinput["workerid"], file=urls)
"""


def test_all_processes_of_a_run_share_one_server_which_ends_with_them(tmp_path: Path) -> None:
    done = run(tmp_path, SHARED, "-n", "2")
    assert done.returncode == 0, done.stdout
    told = [line.split() for line in (tmp_path / "test_it.py.urls").read_text().splitlines()]
    assert len({url for url, _ in told}) == 1
    assert {worker for _, worker in told} == {"gw0", "gw1"}
    # Whoever ended last has waited.
    assert not is_kept(tmp_path / "run" / "farthing")
    assert not (tmp_path / "run" / "farthing" / HOME / "postgres").exists()


def test_a_run_that_is_killed_leaves_no_server_behind(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        "import os\ndef test_it(farthing):\n    os.kill(os.getpid(), 9)\n",
        "-p",
        "no:xdist",
    )
    assert done.returncode == -9
    folder = tmp_path / "run" / "farthing"
    wait_for(lambda: not is_kept(folder), 60)
    wait_for(lambda: not members(folder), 60)


def test_a_server_that_was_killed_is_started_again_for_the_next_who_comes(tmp_path: Path) -> None:
    with shared_server(tmp_path) as first:
        family = members(tmp_path)
        assert len(family) > 3
        family[0].kill()
        wait_for(lambda: not any(lives(one) for one in family), 60)
        with shared_server(tmp_path) as second, shared_server(tmp_path) as third:
            assert second.base_url == third.base_url
            assert second.operator_key == third.operator_key
        assert is_kept(tmp_path)
    assert first.base_url
    assert not is_kept(tmp_path)


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / HOME).mkdir()
    (tmp_path / HOME / "master.key").write_text("no key", "utf-8")
    with pytest.raises(ServerError, match="is missing or damaged"), shared_server(tmp_path):
        pytest.fail("There is no server.")


def test_a_run_whose_server_cannot_start_is_told_why_and_nothing_else(tmp_path: Path) -> None:
    test = """
import pytest

@pytest.fixture(scope="session", autouse=True)
def damage(tmp_path_factory):
    home = tmp_path_factory.getbasetemp() / "farthing" / "home"
    home.mkdir(parents=True)
    (home / "master.key").write_text("no key", "utf-8")

def test_it(farthing):
    pass
"""
    done = run(tmp_path, test, "-p", "no:xdist")
    assert done.returncode == 1
    assert "The server of the test run did not start." in done.stdout
    assert "is missing or damaged" in done.stdout
    assert "Traceback" not in done.stdout
    assert "sharing.py" not in done.stdout


def test_a_run_without_the_fixture_imports_nothing_heavy() -> None:
    script = (
        "import sys, pytest; before = {*sys.modules}; import farthing.testing.plugin;"
        "print(*({*sys.modules} - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    imported = done.stdout.split()
    assert "farthing.testing.plugin" in imported
    assert not [one for one in imported if one.startswith(HEAVY)]
    assert len(imported) < 6
