"""The kit as others get it: what is shown to people runs with nothing but the installed package."""

import re
import shutil
from pathlib import Path

import pytest
from tests.installed import ROOT, Environment, built, wheel_in

pytestmark = pytest.mark.slow

EXAMPLE = ROOT / "examples" / "marketplace"
GUIDE = ROOT / "docs" / "guides" / "testing.md"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    made = Environment(tmp_path_factory.mktemp("environment"))
    made.install(wheel_in(built(tmp_path_factory)), "pytest", "pytest-xdist")
    return made


def run_tests(environment: Environment, folder: Path, passing: int) -> None:
    more = ("-p", "no:cacheprovider", "--basetemp", folder / "run", "-n", "2")
    said = environment.run([environment.program("pytest"), "-q", *more], folder)
    assert f"{passing} passed" in said


def count_tests(text: str) -> int:
    return len(re.findall(r"^(?:async )?def test_", text, re.MULTILINE))


def test_the_marketplace_needs_nothing_but_the_installed_package(
    environment: Environment, tmp_path: Path
) -> None:
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    texts = [path.read_text("utf-8") for path in EXAMPLE.glob("test_*.py")]
    run_tests(environment, tmp_path, sum(map(count_tests, texts)))


def test_the_guide_does_what_it_says(environment: Environment, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    text = "\n".join(blocks)
    (tmp_path / "test_guide.py").write_text(text, "utf-8")
    run_tests(environment, tmp_path, count_tests(text))
