"""The wheel in an empty environment: it installs, and `farthing up` is a sandbox."""

import signal
import subprocess
from pathlib import Path

import pytest
from tests.cli.test_up import CUSTOMER, Sandbox
from tests.installed import ROOT, Environment
from tests.typescript import page

from farthing import __version__

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def empty(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Give an environment in which nothing but the wheel was installed."""
    made = Environment(tmp_path_factory.mktemp("empty"))
    made.install(wheel)
    return made


def test_nothing_that_it_needs_is_missing(empty: Environment) -> None:
    assert empty.run([empty.program("pip"), "check"]) == "No broken requirements found.\n"


def test_it_says_its_version(empty: Environment) -> None:
    assert empty.run([empty.program("farthing"), "--version"]) == f"farthing {__version__}\n"


def test_it_is_not_the_checkout_that_runs(empty: Environment) -> None:
    script = "import farthing, sys; print(farthing.__file__, *sys.path, sep='\\n')"
    module, *places = empty.run([empty.program("python"), "-c", script]).splitlines()
    assert Path(module).is_relative_to(empty.folder / "venv")
    assert not any(Path(one).is_relative_to(ROOT) for one in places)


def test_up_is_a_sandbox_that_takes_requests_and_payments(empty: Environment) -> None:
    home = empty.folder / "home"
    process = subprocess.Popen(
        [empty.program("farthing"), "up", "--home", home, "--port", "0"],
        cwd=empty.folder,
        env=empty.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            sandbox = Sandbox(home, process)
            status, customer = sandbox.call("POST", "/v1/customers", CUSTOMER)
            assert (status, customer["name"]) == (201, "Ada")
            assert sandbox.call("GET", "/openapi.json")[1]["info"]["version"] == __version__
            script = [empty.program("python"), "-c", page.script("python")]
            assert empty.run(script, home) == page.expected()
            sandbox.stop(signal.SIGINT)
        finally:
            process.kill()
