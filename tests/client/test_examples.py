"""Examples: those in docstrings and in the guide are run, against a real service."""

import asyncio
import doctest
import importlib
import pkgutil
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs
from tests.client.conftest import Running

import farthing.client
from farthing.client import AsyncFarthing, Farthing, Retries, verify_webhook
from farthing.client._sync import Operations

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "python.md"
MODULES = [
    importlib.import_module(one.name)
    for one in pkgutil.walk_packages(farthing.client.__path__, "farthing.client.")
]
FOUND = [
    example
    for module in MODULES
    for example in doctest.DocTestFinder(exclude_empty=True).find(module)
    if example.examples
]


@pytest.fixture
def names(running: Running, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give what every example starts with: a fresh tenant of a sandbox."""
    shop = running.new_shop()
    monkeypatch.setenv("FARTHING_SANDBOX_URL", running.url)
    # So that nothing waits for long where an example lets something fail.
    retries = Retries(longest_pause=0.01)
    with Farthing(shop.key, retries=retries) as client:
        yield {
            "api_key": shop.key,
            "client": client,
            "asyncio": asyncio,
            "AsyncFarthing": AsyncFarthing,
            "Farthing": Farthing,
            "Retries": Retries,
            "verify_webhook": verify_webhook,
        }


def run(example: doctest.DocTest) -> None:
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    # The service runs in this process, and what it logs is no part of an example.
    with capture_logs():
        runner.run(example, out=said.append, clear_globs=False)
    # An example that closed its client would show that more than what it is about.
    for left in example.globs.values():
        if isinstance(left, Farthing):
            left.close()
    assert runner.tries > 0
    assert runner.failures == 0, "".join(said)


@pytest.mark.parametrize("example", FOUND, ids=lambda one: one.name)
def test_the_examples_of_a_docstring_do_what_they_say(
    example: doctest.DocTest, names: dict[str, Any]
) -> None:
    example.globs = {**names}
    run(example)


def test_there_are_examples_where_people_look() -> None:
    shown = {one.name.removeprefix("farthing.client.") for one in FOUND}
    assert {
        "_clients.Farthing",
        "_clients.Farthing.for_customer",
        "_clients.AsyncFarthing",
        "_webhooks.verify_webhook",
    } <= shown
    nouns = [name for name, one in vars(Operations).items() if isinstance(one, cached_property)]
    assert len(nouns) > 12
    for noun in nouns:
        words = "".join(word.capitalize() for word in noun.split("_"))
        assert f"_sync.{noun}.{words}Operations" in shown


def test_the_guide_does_what_it_says(
    names: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FARTHING_API_KEY", names["api_key"])
    text = GUIDE.read_text("utf-8")
    run(doctest.DocTestParser().get_doctest(text, {}, "python.md", str(GUIDE), 0))
