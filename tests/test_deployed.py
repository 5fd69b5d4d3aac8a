"""A deployment as deploy/ describes it, but for the containers."""

import asyncio
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import asyncpg
import pytest
from tests.cli.test_serving import FARTHING, PATIENCE, free_port, wait_until_ready
from tests.test_deploy import DEPLOY, health_check, shell_blocks

from farthing.config import Settings
from farthing.db.embedded import EmbeddedServer, binary

pytestmark = pytest.mark.slow

PASSWORD = "only-for-tests"  # noqa: S105 - the service's, in a database of this test alone
SUPERUSER = "superuser_of_the_image"


@dataclass(frozen=True)
class Deployed:
    """A server that was made by the script of deploy, and the secrets of those who use it."""

    socket: str
    environ: dict[str, str]


async def resemble_the_image(url: str) -> None:
    """Leave a superuser and nothing else, as in a server that was just made."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("DROP DATABASE farthing")
        await connection.execute("DROP ROLE farthing")
        role = f"CREATE ROLE {SUPERUSER} SUPERUSER LOGIN PASSWORD '{PASSWORD}'"
        await connection.execute(role)
    finally:
        await connection.close()


async def count_superusers_with(socket: str, user: str) -> int:
    connection = await asyncpg.connect(
        host=socket, user=user, password=PASSWORD, database="farthing"
    )
    try:
        asked = "SELECT count(*) FROM pg_roles WHERE rolsuper AND pg_has_role(oid, 'MEMBER')"
        return int(await connection.fetchval(asked))
    finally:
        await connection.close()


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    folder = tmp_path_factory.mktemp("deployed")
    with EmbeddedServer(folder / "postgres") as server:
        (socket,) = parse_qs(urlsplit(server.admin_url()).query)["host"]
        asyncio.run(resemble_the_image(server.admin_url()))
        # As the image of PostgreSQL calls it, which lets its superuser in without a password.
        image = {"POSTGRES_USER": SUPERUSER, "POSTGRES_PASSWORD": PASSWORD}
        here = {"PGHOST": socket, "PGPASSWORD": PASSWORD}
        path = f"{binary('psql').parent}{os.pathsep}{os.environ['PATH']}"
        subprocess.run(
            [DEPLOY / "database.sh"],
            env={"PATH": path, **image, **here},
            check=True,
            timeout=PATIENCE,
        )
        (folder / "master.key").write_text("c0ffee" * 10 + "c0de")
        url = f"postgresql://farthing:{PASSWORD}@/farthing?host={quote(socket, safe='')}"
        (folder / "database.url").write_text(f"{url}\n")
        plain = {name: one for name, one in os.environ.items() if "FARTHING_" not in name}
        files = {
            "FARTHING_DATABASE_URL_FILE": str(folder / "database.url"),
            "FARTHING_MASTER_KEY_FILE": str(folder / "master.key"),
        }
        yield Deployed(socket, plain | files)


def test_the_service_is_no_superuser_and_the_superuser_has_no_password(deployed: Deployed) -> None:
    assert asyncio.run(count_superusers_with(deployed.socket, "farthing")) == 0
    with pytest.raises(asyncpg.InvalidPasswordError):
        asyncio.run(count_superusers_with(deployed.socket, SUPERUSER))


def test_the_database_is_migrated_and_the_service_is_well_by_the_check_of_the_image(
    deployed: Deployed,
) -> None:
    subprocess.run([*FARTHING, "migrate"], env=deployed.environ, check=True, timeout=PATIENCE)
    port = free_port()
    environ = deployed.environ | {"FARTHING_PORT": str(port)}
    with subprocess.Popen([*FARTHING, "serve"], env=environ, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until_ready(port)
            assert check(port) == 0
        finally:
            process.terminate()
        # Whoever stops it takes both for an end in order.
        assert process.wait(PATIENCE) in {0, -signal.SIGTERM}
    assert check(port) != 0


def test_other_commands_run_beside_it_as_the_page_says(deployed: Deployed) -> None:
    subprocess.run([*FARTHING, "migrate"], env=deployed.environ, check=True, timeout=PATIENCE)
    folder = Path(deployed.environ["FARTHING_MASTER_KEY_FILE"]).parent
    shutil.copy(DEPLOY / "farthing.env.example", folder / "farthing.env")
    (block,) = [one for one in shell_blocks() if one.startswith("farthing() (")]
    here = block.replace("/etc/farthing", str(folder))
    here = here.replace("/opt/farthing/bin/farthing", shlex.join(FARTHING))
    plain = {name: one for name, one in deployed.environ.items() if "FARTHING_" not in name}
    done = subprocess.run(
        ["sh", "-eu", "-c", here],  # noqa: S607 - any will do
        env=plain,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert "farthing_key_live_" in done.stdout
    assert "farthing_operator_live_" in done.stdout


def check(port: int) -> int:
    """Run the health check of the image, at the port that is used here."""
    program, *words = health_check()
    assert program == "python"
    own = [word.replace(f":{Settings().port}/", f":{port}/") for word in words]
    done = subprocess.run(
        [Path(sys.executable), *own], capture_output=True, check=False, timeout=PATIENCE
    )
    return done.returncode
