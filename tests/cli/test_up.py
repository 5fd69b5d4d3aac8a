"""`farthing up` from end to end: real processes, real signals, real kills."""

import http.client
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.processes import lives, wait_for

from farthing.cli import services
from farthing.cli.sandbox import HomeError
from farthing.cli.up import up

pytestmark = pytest.mark.slow

UP = (sys.executable, "-m", "farthing", "up")
CUSTOMER = {"type": "INDIVIDUAL", "name": "Ada"}


def shown(process: psutil.Process) -> set[str]:
    """Return the program's name and its last argument, or nothing for one that just ended."""
    with suppress(psutil.NoSuchProcess, IndexError):
        command = process.cmdline()
        return {Path(command[0]).name, command[-1]}
    return set()


class Sandbox:
    """A running `farthing up`, as a program beside it sees it."""

    def __init__(self, home: Path, process: subprocess.Popen[str]) -> None:
        self.home = home
        self.process = process
        self.told = self._listen()
        self.facts: dict[str, str] = json.loads((home / "sandbox.json").read_text())
        self.port = int(self.facts["baseUrl"].rpartition(":")[2])
        self.family = psutil.Process(process.pid).children(recursive=True)

    def _listen(self) -> str:
        """Read what it tells, up to the command to paste."""
        assert self.process.stdout is not None
        told = ""
        for line in self.process.stdout:
            told += line
            if line.startswith("curl "):
                return told
        pytest.fail(f"It ended before it was ready: {told}")

    def call(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        address = self.facts["baseUrl"].removeprefix("http://")
        headers = {"X-Token": self.facts["apiKey"], "Content-Type": "application/json"}
        connection = http.client.HTTPConnection(address, timeout=10)
        try:
            connection.request(method, path, json.dumps(body) if body else None, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or "null")
        finally:
            connection.close()

    def is_ready(self) -> bool:
        with suppress(OSError, http.client.HTTPException, ValueError):
            return self.call("GET", "/readyz")[0] == 200
        return False

    def parts(self, name: str) -> list[psutil.Process]:
        """Find the process of one part: serve, worker or postgres."""
        children = psutil.Process(self.process.pid).children()
        return [one for one in children if name in shown(one)]

    def stop(self, request: signal.Signals) -> None:
        """Stop it, and see that it ends well, soon, and that nothing is left."""
        self.process.send_signal(request)
        assert self.process.wait(10) == 0
        assert len(self.family) > 3
        assert not any(lives(one) for one in self.family)


@contextmanager
def running(home: Path, port: int = 0) -> Iterator[Sandbox]:
    command = (*UP, "--home", str(home), "--port", str(port))
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    with process:
        try:
            yield Sandbox(home, process)
        finally:
            process.kill()


def refusal(home: Path, port: int = 0) -> str:
    """Run it where it must refuse, and return the sentence that it ends with."""
    command = (*UP, "--home", str(home), "--port", str(port))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a home in which a sandbox ran and stopped, for those that come and go."""
    home = tmp_path_factory.mktemp("up") / "home"
    with running(home) as sandbox:
        sandbox.stop(signal.SIGTERM)
    return home


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Give a sandbox that runs on, whatever happens to its parts."""
    with running(tmp_path_factory.mktemp("on")) as sandbox:
        yield sandbox
        sandbox.stop(signal.SIGTERM)


def test_what_it_tells_works_when_pasted(sandbox: Sandbox) -> None:
    paste = sandbox.told.splitlines()[-1]
    done = subprocess.run(paste, shell=True, capture_output=True, text=True, check=True)  # noqa: S602 - as pasted.
    assert json.loads(done.stdout)["name"] == "Ada"


def test_no_key_gets_into_the_history_of_a_shell(sandbox: Sandbox) -> None:
    assert sandbox.facts["apiKey"] not in sandbox.told
    assert sandbox.facts["operatorKey"] not in sandbox.told


def test_the_other_commands_find_it_by_its_home(sandbox: Sandbox) -> None:
    def farthing(*words: str) -> str:
        command = (sys.executable, "-m", "farthing", *words, "--home", str(sandbox.home))
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        return done.stdout

    assert f"at {sandbox.facts['baseUrl']}" in farthing("status")
    assert f"farthing demo --home {sandbox.home}" in sandbox.told
    assert "8/8" in farthing("demo")
    made = json.loads(farthing("tx", "list", "--state", "DISPUTED", "--json"))["results"][0]["id"]
    assert "transaction.disputed" in farthing("timeline", made)
    assert "every farthing is accounted for" in farthing("verify")


def test_the_keys_are_in_a_private_file(sandbox: Sandbox) -> None:
    assert set(sandbox.facts) == {"baseUrl", "apiKey", "operatorKey", "tenantId"}
    assert stat.S_IMODE((sandbox.home / "sandbox.json").stat().st_mode) == 0o600
    assert sandbox.is_ready()


def test_a_second_one_in_the_same_home_is_told_who_runs(sandbox: Sandbox) -> None:
    assert f"`kill {sandbox.process.pid}`" in refusal(sandbox.home)
    assert sandbox.is_ready()


def test_a_used_port_is_told_before_anything_is_made(sandbox: Sandbox, tmp_path: Path) -> None:
    told = f"127.0.0.1:{sandbox.port}: Address already in use. Give another port"
    assert told in refusal(tmp_path, sandbox.port)
    assert not (tmp_path / "postgres").exists()


@pytest.mark.parametrize("name", ["serve", "worker", "postgres"])
def test_a_part_that_is_killed_comes_back(sandbox: Sandbox, name: str) -> None:
    (killed,) = sandbox.parts(name)
    killed.kill()
    wait_for(lambda: sandbox.parts(name) not in ([], [killed]))
    wait_for(sandbox.is_ready)
    assert sandbox.call("POST", "/v1/customers", CUSTOMER)[0] == 201


def test_every_signal_to_stop_leaves_nothing_and_the_next_start_goes_on(home: Path) -> None:
    with running(home) as first:
        status, customer = first.call("POST", "/v1/customers", CUSTOMER)
        assert status == 201
        first.stop(signal.SIGINT)
    with running(home) as second:
        assert second.facts["apiKey"] == first.facts["apiKey"]
        assert second.call("GET", f"/v1/customers/{customer['id']}")[0] == 200
        second.stop(signal.SIGHUP)


def test_no_acknowledged_customer_is_lost_by_a_kill(home: Path) -> None:
    acknowledged: list[str] = []

    def write(sandbox: Sandbox) -> None:
        with suppress(OSError, http.client.HTTPException, ValueError):
            while True:
                status, customer = sandbox.call("POST", "/v1/customers", CUSTOMER)
                if status == 201:
                    acknowledged.append(customer["id"])

    with running(home) as killed:
        writers = [threading.Thread(target=write, args=(killed,)) for _ in range(4)]
        for writer in writers:
            writer.start()
        wait_for(lambda: len(acknowledged) > 50)
        os.killpg(killed.process.pid, signal.SIGKILL)
        for writer in writers:
            writer.join()
    with running(home, killed.port) as after:
        answers = {after.call("GET", f"/v1/customers/{one}")[0] for one in acknowledged}
        assert answers == {200}
        assert not any(lives(one) for one in killed.family)
        after.stop(signal.SIGTERM)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("sandbox.json", "sandbox.json is missing or damaged. Restore it"),
        ("master.key", "master.key is missing or damaged. Restore it"),
        ("postgres/secret", "secret is missing or damaged. Restore it"),
        ("postgres/data/PG_VERSION", "holds no data of PostgreSQL 18. Restore it"),
    ],
)
def test_a_damaged_file_is_told(home: Path, name: str, sentence: str) -> None:
    whole = (home / name).read_bytes()
    (home / name).write_bytes(b"damage")
    try:
        assert sentence in refusal(home)
    finally:
        (home / name).write_bytes(whole)


def test_a_home_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "cannot be used: " in refusal(tmp_path / "file")


def test_a_service_that_cannot_run_is_told_with_its_last_words(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "_FIRST_PAUSE", 0.01)
    broken = (sys.executable, "-c", "import sys; sys.exit('broken on purpose')")
    with pytest.raises(HomeError, match=r"stopped 6 times in a row(.|\n)*broken on purpose"):
        up(home, 0, broken)
