"""The stage: a fresh database, the service and its worker, and customers with accounts."""

import asyncio
import http.client
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

import asyncpg
import psutil
from bench import fill, ledger, money, people
from bench.load import BenchError
from bench.server import RoomyServer

from farthing.catalog import MACHINES
from farthing.db.committer import Committer
from farthing.db.embedded import EmbeddedServer
from farthing.db.embedded.programs import ends_with_parent
from farthing.db.migrate import migrate
from farthing.db.pool import open_pool
from farthing.resources.access import actions

Process = subprocess.Popen[bytes]

REFERENCE: Final = "reference"
_HOST: Final = "127.0.0.1"
_READY_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 10.0
_LAST_LINES: Final = 15


@dataclass(frozen=True)
class Stage:
    """Everything that a scenario may use; it is gone after the run."""

    folder: Path
    server: EmbeddedServer
    environment: Mapping[str, str]
    base_url: str
    tenant_id: UUID
    token: str
    service_id: int

    @property
    def customers(self) -> Path:
        """The file that lists the customers."""
        return self.folder / "customers"

    @property
    def accounts(self) -> Path:
        """The file that lists the accounts that were there from the start."""
        return self.folder / "accounts"

    @property
    def samples(self) -> Path:
        """The file to which a service with a sampler writes."""
        return self.folder / "samples"

    @property
    def log(self) -> Path:
        """What the service says."""
        return self.folder / "serve.log"

    def count(self, rows: str) -> int:
        """Count the rows of a table, or those of them that a condition after its name names."""
        return asyncio.run(_count(self.server.admin_url("farthing"), rows))

    def memory(self) -> float:
        """Return what the service holds in memory, in MiB."""
        return psutil.Process(self.service_id).memory_info().rss / 2**20

    def fill(self, statements: tuple[str, ...], many: int) -> None:
        """Add so many objects, so that the tables are large."""
        url = self.server.admin_url("farthing")
        asyncio.run(fill.fill(url, self.tenant_id, statements, many))

    def fund(self) -> None:
        """Give every account plenty of money."""
        accounts = ledger.listed(self.accounts)
        asyncio.run(money.fund(self.server.url(), self.tenant_id, accounts))

    def make_payments(self) -> Path:
        """Make a new payment from every account, and return the file that lists them."""
        accounts, file = ledger.listed(self.accounts), self.folder / "payments"
        made = asyncio.run(money.make_payments(self.server.url(), self.tenant_id, accounts))
        file.write_text("\n".join(made), "ascii")
        return file

    def run(self, *arguments: str) -> str:
        """Run one of our Python modules to its end, and return what it printed."""
        done = subprocess.run(
            [sys.executable, "-m", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise BenchError(f"{arguments[0]} failed:\n{done.stdout}{done.stderr}")
        return done.stdout


@contextmanager
def set_up(*, roomy: bool = False, sampled: bool = False) -> Iterator[Stage]:
    """Start everything in a temporary folder; stop and remove it at the end, however that comes.

    A roomy database takes more clients, and a sampled service can say what it is at.
    """
    server_class = RoomyServer if roomy else EmbeddedServer
    with (
        tempfile.TemporaryDirectory(prefix="farthing-bench-") as name,
        server_class(Path(name) / "postgres") as server,
    ):
        folder, port = Path(name), _free_port()
        tenant_id, key = asyncio.run(_prepare(server))
        environment = _environment(server, port, folder)
        program = "farthing"
        if sampled:
            # Only the process that is started can be sampled, not those that it starts.
            program = "bench.sampled"
            environment["FARTHING_PROCESSES"] = "1"
        with (
            _running(program, "serve", environment, folder) as service,
            _running("farthing", "worker", environment, folder),
        ):
            _wait_until_ready(port, service, folder / "serve.log")
            base_url = f"http://{_HOST}:{port}"
            crowd = asyncio.run(people.gather(base_url, tenant_id, key))
            stage = Stage(
                folder, server, environment, base_url, tenant_id, crowd.token, service.pid
            )
            stage.customers.write_text("\n".join(crowd.customers), "ascii")
            stage.accounts.write_text("\n".join(crowd.accounts), "ascii")
            stage.fund()
            yield stage


def _environment(server: EmbeddedServer, port: int, folder: Path) -> dict[str, str]:
    """Return the settings of the service: the defaults, whatever the caller has set."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("FARTHING_")}
    return inherited | {
        "FARTHING_DATABASE_URL": server.url(),
        "FARTHING_MASTER_KEY": secrets.token_hex(32),
        # The other half of the cores is the database's; the bench may be asked what others can do.
        "FARTHING_PROCESSES": os.environ.get("BENCH_PROCESSES", str(_half_of_the_cores())),
        "FARTHING_PORT": str(port),
        "FARTHING_LOG_LEVEL": "warning",
        # The receiver of deliveries is on this machine.
        "FARTHING_WEBHOOK_PRIVATE": "true",
        "BENCH_SAMPLES": str(folder / "samples"),
    }


def _half_of_the_cores() -> int:
    return max(1, (os.cpu_count() or 1) // 2)


async def _prepare(server: EmbeddedServer) -> tuple[UUID, str]:
    """Bring the database up to date, found a tenant, and make room for the reference."""
    await migrate(server.url(), MACHINES)
    connection = await asyncpg.connect(server.admin_url())
    await connection.execute(f"CREATE DATABASE {REFERENCE} OWNER farthing")
    await connection.close()
    pool = await open_pool(server.url(), size=2)
    committer = Committer(pool)
    tenant_id = await actions.found_tenant(committer, "Bench")
    key = await actions.issue_api_key(committer, "sandbox", tenant_id)
    await pool.close()
    return tenant_id, key


async def _count(url: str, rows: str) -> int:
    connection = await asyncpg.connect(url)
    try:
        return int(await connection.fetchval(f"SELECT count(*) FROM farthing.{rows}"))  # noqa: S608 - our own names.
    finally:
        await connection.close()


def _free_port() -> int:
    with socket.create_server((_HOST, 0)) as probe:
        return int(probe.getsockname()[1])


@contextmanager
def _running(
    program: str, verb: str, environment: Mapping[str, str], folder: Path
) -> Iterator[Process]:
    """Run a part of the service beside us, out of the reach of a terminal's Ctrl-C."""
    with (folder / f"{verb}.log").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", program, verb],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=ends_with_parent(signal.SIGKILL),  # noqa: PLW1509 - no threads run yet.
        )
    try:
        yield process
    finally:
        _stop(process)


def _stop(process: Process) -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait_until_ready(port: int, service: Process, log: Path) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while not _is_ready(port):
        if service.poll() is not None or time.monotonic() > deadline:
            raise BenchError(f"The service did not get ready. It said:\n{last_lines(log)}")
        time.sleep(0.05)


def last_lines(log: Path) -> str:
    """Return the end of a log."""
    return "\n".join(log.read_text("utf-8", "replace").splitlines()[-_LAST_LINES:])


def _is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection(_HOST, port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
