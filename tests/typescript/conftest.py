"""A service on a real socket, and a TypeScript client that the registry's tools write for it."""

import json
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.alone import made_once
from tests.client.conftest import Running
from tests.loud import cannot_run
from tests.typescript import page

if TYPE_CHECKING:
    from tests.conftest import Database

HERE = Path(__file__).parent
PATIENCE = 300


@pytest.fixture(scope="session")
def running(database: "Database") -> Iterator[Running]:
    started = Running(database)
    yield started
    started.close()


@pytest.fixture(scope="session")
def home(running: Running, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a `sandbox.json`, as `farthing up` makes one."""
    shop = running.new_shop()
    facts = {"baseUrl": running.url, "apiKey": shop.key, "tenantId": shop.id}
    folder = tmp_path_factory.mktemp("home")
    (folder / "sandbox.json").write_text(json.dumps(facts))
    return folder


def run(command: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def require_node() -> None:
    """Say aloud that nothing can be tested without Node.js; where everything must run, fail."""
    missing = [name for name in ("node", "npm", "npx") if shutil.which(name) is None]
    if missing:
        cannot_run(
            f"THE TYPESCRIPT CLIENT IS NOT TESTED: there is no {', '.join(missing)}. "
            "Install Node.js 20 or later with npm."
        )


@pytest.fixture(scope="session")
def tools(pytestconfig: pytest.Config) -> Path:
    """Install the tools that the lock file names; they are kept for as long as it names them."""
    require_node()
    assert pytestconfig.cache is not None
    lock = (HERE / "package-lock.json").read_bytes()
    folder = pytestconfig.cache.mkdir("typescript") / sha256(lock).hexdigest()[:16]
    return made_once(folder, _install)


def _install(folder: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, folder)
    quiet = ("--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts")
    done = run(["npm", "ci", *quiet], folder)
    if done.returncode != 0:
        cannot_run(f"THE TYPESCRIPT CLIENT IS NOT TESTED: npm cannot install.\n{done.stderr}")


@pytest.fixture(scope="session")
def built(tools: Path, running: Running, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the client as the page says, check the types of all that uses it, and build that."""
    folder = tmp_path_factory.mktemp("typescript")
    (folder / "node_modules").symlink_to(tools / "node_modules")
    for name in ("package.json", "tsconfig.json", "flow.ts"):
        shutil.copy(HERE / name, folder)
    (folder / "quick-start.ts").write_text(page.script("typescript"))
    (written,) = [line for line in page.commands() if line.startswith("npx ")]
    own = written.replace("http://127.0.0.1:4960", running.url)
    for command in (shlex.split(own), ["npx", "tsc"]):
        done = run([command[0], "--no", *command[1:]], folder)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "built"
