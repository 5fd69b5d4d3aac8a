"""The quick start: the same steps in every language, and each prints what the page says."""

import re
import shutil
import sys
from pathlib import Path

import pytest
from tests.loud import cannot_run
from tests.typescript import page
from tests.typescript.conftest import run

STEPS = re.split(r"^## ", page.PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.partition("\n")[0])
def test_a_step_stands_there_in_every_language(step: str) -> None:
    names = tuple(name for name, _ in page.blocks(step))
    assert names in {page.LANGUAGES, (*page.LANGUAGES, "text")}


def test_it_goes_from_a_customer_to_the_payout() -> None:
    titles = " ".join(step.partition("\n")[0].lower() for step in STEPS)
    assert re.search("customers.*accounts.*card.*charge.*escrow.*release.*payout", titles)


@pytest.mark.slow
def test_it_prints_what_it_says_with_curl(home: Path) -> None:
    if shutil.which("curl") is None:
        cannot_run("THE QUICK START IS NOT TESTED: there is no curl. Install it.")
    done = run(["sh", "-eu", "-c", page.script("sh")], home)
    assert (done.stdout, done.stderr) == (page.expected(), "")


@pytest.mark.slow
def test_it_prints_what_it_says_in_python(home: Path) -> None:
    done = run([sys.executable, "-c", page.script("python")], home)
    assert (done.stdout, done.stderr) == (page.expected(), "")
