"""The watch: what dies comes back, what dies again and again is told, and all ends in order."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from farthing.cli import services
from farthing.cli.sandbox import HomeError
from farthing.cli.services import Child, Watch, bound_log

STAY = "import time; print('up', flush=True); time.sleep(600)"
DIE = "import sys; sys.exit('broken on purpose')"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + STAY


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def watch(said: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    monkeypatch.setattr(services, "_FIRST_PAUSE", 0.01)
    watch = Watch(said.append)
    yield watch
    watch.stop()


@pytest.fixture
def child(tmp_path: Path) -> Callable[[str], Child]:
    def make(script: str) -> Child:
        return Child((sys.executable, "-c", script), os.environ, tmp_path / "child.log")

    return make


def tend_until(watch: Watch, fact: Callable[[], object]) -> None:
    deadline = time.monotonic() + 10
    while not fact():
        assert time.monotonic() < deadline, "It did not come true in time."
        watch.tend()
        time.sleep(0.01)


def test_a_child_that_dies_is_started_again(
    watch: Watch, child: Callable[[str], Child], said: list[str]
) -> None:
    # Written otherwise than it reads: a traceback in the log shows the line.
    one = child("print('started'.upper(), flush=True); input()")
    watch.add("API", one)
    one.start()
    tend_until(watch, lambda: one.log.read_text().count("STARTED") == 2)
    assert said[0] == "The API stopped; starting it again."


def test_a_child_that_dies_again_and_again_is_given_up_with_its_last_words(
    watch: Watch, child: Callable[[str], Child], said: list[str]
) -> None:
    one = child(DIE)
    watch.add("worker", one)
    one.start()
    with pytest.raises(HomeError, match=r"worker stopped 6 times in a row(.|\n)*broken on purpose"):
        tend_until(watch, lambda: False)
    assert len(said) == 5


def test_a_child_that_hears_no_request_is_ended(
    child: Callable[[str], Child], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "_PATIENCE", 0.2)
    one = child(DEAF)
    one.start()
    tend_until(Watch(print), one.log.read_text)
    one.stop()
    assert not one.alive()


def test_the_last_that_was_added_stops_first() -> None:
    stopped: list[str] = []

    class Told(Child):
        def stop(self) -> None:
            stopped.append(self.log.name)
            super().stop()

    watch = Watch(print)
    for name in ("database", "API", "worker"):
        watch.add(name, Told((), {}, Path(name)))
    watch.stop()
    assert stopped == ["worker", "API", "database"]


def test_a_log_that_others_write_to_is_kept_small(tmp_path: Path) -> None:
    log = tmp_path / "serve.log"
    with log.open("ab") as writer:
        writer.truncate(9_000_000)
        bound_log(log)
        writer.write(b"after\n")
    assert log.read_bytes() == b"after\n"
    assert (tmp_path / "serve.log.1").stat().st_size == 9_000_000
