"""`farthing serve`, `worker` and `migrate` as an operator runs them, several beside each other."""

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from tests.conftest import MASTER_KEY

if TYPE_CHECKING:
    from tests.conftest import Database

FARTHING = [sys.executable, "-m", "farthing"]
PATIENCE = 30


def environment(database: "Database", **changes: str) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if "FARTHING_" not in name}
    ours = {"FARTHING_DATABASE_URL": database.url, "FARTHING_MASTER_KEY": MASTER_KEY}
    return {**plain, **ours, **changes}


def run(database: "Database", *command: str, **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*FARTHING, *command],
        env=environment(database, **changes),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def request(port: int, method: str, path: str, token: str, body: object = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    headers = {"X-Token": token, "Content-Type": "application/json"}
    try:
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def wait_until_ready(port: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            if request(port, "GET", "/readyz", "")[0] == 200:
                return
        except (OSError, http.client.HTTPException):
            pass
        assert time.monotonic() < deadline, "the service does not get ready"
        time.sleep(0.05)


@contextmanager
def started(
    database: "Database", command: str, **changes: str
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [*FARTHING, command], env=environment(database, **changes), stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def serving(database: "Database") -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    port = free_port()
    with started(database, "serve", FARTHING_PORT=str(port)) as process:
        wait_until_ready(port)
        yield port, process


@pytest.fixture(scope="module")
def own(database: "Database") -> "Database":
    """Give a database that was prepared by the commands alone."""
    fresh = asyncio.run(database.create())
    assert run(fresh, "migrate").returncode == 0
    return fresh


@pytest.fixture(scope="module")
def api_key(own: "Database") -> str:
    return str(json.loads(run(own, "tenants", "create", "Shop").stdout)["apiKey"])


@pytest.mark.slow
def test_several_services_and_workers_run_beside_each_other(own: "Database", api_key: str) -> None:
    with ExitStack() as stack:
        ports = [stack.enter_context(serving(own))[0] for _ in range(2)]
        for _ in range(2):
            stack.enter_context(started(own, "worker"))
        made = []
        for number in range(20):
            body = {"type": "INDIVIDUAL", "name": f"Customer {number}"}
            status, customer = request(ports[number % 2], "POST", "/v1/customers", api_key, body)
            assert status == 201
            made.append(customer)
        for customer in made:
            for port in ports:
                path = f"/v1/customers/{customer['id']}"
                assert request(port, "GET", path, api_key) == (200, customer)
        deadline = time.monotonic() + PATIENCE
        while request(ports[0], "GET", "/v1/status", "")[1]["status"] != "ok":
            assert time.monotonic() < deadline
            time.sleep(0.1)


@pytest.mark.slow
def test_a_service_that_is_asked_to_stop_does_not_wait_for_streams(
    own: "Database", api_key: str
) -> None:
    with serving(own) as (port, process):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/v1/events/stream", headers={"X-Token": api_key})
        answer = connection.getresponse()
        assert answer.readline() == b"retry: 1000\n"
        process.terminate()
        # Without the end of the stream it would take the five seconds that requests are given.
        process.wait(3)
        assert answer.read().startswith(b"id: event/")
        connection.close()


@pytest.mark.slow
def test_a_killed_service_loses_no_acknowledged_write(own: "Database", api_key: str) -> None:
    acknowledged: list[str] = []

    def write(port: int) -> None:
        while True:
            try:
                status, made = request(
                    port, "POST", "/v1/customers", api_key, {"type": "INDIVIDUAL"}
                )
            except (OSError, http.client.HTTPException, ValueError):
                return
            assert status == 201
            acknowledged.append(made["id"])

    with serving(own) as (port, process):
        writers = [threading.Thread(target=write, args=(port,)) for _ in range(4)]
        for writer in writers:
            writer.start()
        while len(acknowledged) < 40:
            time.sleep(0.01)
        process.kill()
        for writer in writers:
            writer.join()
    with serving(own) as (port, _):
        for customer in acknowledged:
            assert request(port, "GET", f"/v1/customers/{customer}", api_key)[0] == 200
    assert run(own, "verify").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_service_that_is_told_to_stop_answers_what_it_has_taken_first(
    own: "Database", api_key: str, number: signal.Signals
) -> None:
    with serving(own) as (port, process):
        assert request(port, "POST", "/v1/customers", api_key, {"type": "INDIVIDUAL"})[0] == 201
        process.send_signal(number)
        process.wait(timeout=PATIENCE)
        with pytest.raises(OSError):  # noqa: PT011 - whatever a closed port gives
            request(port, "GET", "/healthz", "")


@pytest.mark.slow
def test_the_operators_key_is_printed_once_and_works(own: "Database", api_key: str) -> None:
    key = json.loads(run(own, "operator-key").stdout)["operatorKey"]
    with serving(own) as (port, _):
        _, made = request(port, "POST", "/v1/customers", api_key, {"type": "INDIVIDUAL"})
        assert request(port, "GET", f"/v1/customers/{made['id']}", key)[0] == 200


@pytest.mark.slow
def test_what_is_wrong_is_said_in_a_sentence(own: "Database") -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        nobody = f"postgresql://x:x@127.0.0.1:{free_port()}/x"
        cases = {
            "Choose another FARTHING_PORT": run(own, "serve", FARTHING_PORT=port),
            "FARTHING_PORT is wrong": run(own, "serve", FARTHING_PORT="many"),
            "No master key": run(own, "serve", FARTHING_MASTER_KEY="", FARTHING_PORT="0"),
            "FARTHING_DATABASE_URL is not set": run(own, "worker", FARTHING_DATABASE_URL=""),
            "The database cannot be reached": run(own, "migrate", FARTHING_DATABASE_URL=nobody),
        }
    for sentence, done in cases.items():
        assert done.returncode == 1, sentence
        assert sentence in done.stderr
        assert "Traceback" not in done.stderr


@contextmanager
def two_processes(database: "Database") -> Iterator[tuple[psutil.Process, int]]:
    port = free_port()
    settings = environment(database, FARTHING_PORT=str(port), FARTHING_PROCESSES="2")
    service = subprocess.Popen([*FARTHING, "serve"], env=settings)
    try:
        wait_until_ready(port)
        yield psutil.Process(service.pid), port
    finally:
        if service.poll() is None:
            service.kill()
        service.wait(PATIENCE)


@pytest.mark.slow
def test_two_processes_serve_one_port_and_stop_together(database: "Database") -> None:
    with two_processes(database) as (parent, port):
        children = parent.children()
        assert len(children) == 2
        assert all(request(port, "GET", "/readyz", "")[0] == 200 for _ in range(20))
        parent.send_signal(signal.SIGTERM)
        assert parent.wait(PATIENCE) == 0
        assert not any(child.is_running() for child in children)


@pytest.mark.slow
def test_a_process_that_dies_ends_the_others_so_that_all_start_anew(database: "Database") -> None:
    with two_processes(database) as (parent, _):
        children = parent.children()
        children[0].kill()
        assert parent.wait(PATIENCE) == 1
        assert not any(child.is_running() for child in children)
