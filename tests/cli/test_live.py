"""Live is different: it refuses to start with what is made for trying out, and says what to do."""

import secrets
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cli.test_serving import FARTHING, PATIENCE, environment, free_port

from farthing.cli.home import Home
from farthing.config import Settings, SettingsError

if TYPE_CHECKING:
    from tests.conftest import Database

Changes = Mapping[str, str | None]

# What live takes, but for a database: whoever gets so far is refused by nothing else.
FIT = {
    "FARTHING_ENVIRONMENT": "live",
    "FARTHING_RAIL": "bank.rails:open",
    "FARTHING_PUBLIC_URL": "https://pay.farthing.test",
    "FARTHING_MASTER_KEY": secrets.token_hex(32),
}
RANDOM = "is not random"
REFUSALS: dict[str, tuple[Changes, str]] = {
    "the sandbox's rail": ({"FARTHING_RAIL": "sandbox"}, "FARTHING_RAIL is `sandbox`"),
    "the rail by default": ({"FARTHING_RAIL": None}, "FARTHING_RAIL is `sandbox`"),
    "an http address": (
        {"FARTHING_PUBLIC_URL": "http://pay.farthing.test"},
        "FARTHING_PUBLIC_URL must be an https address",
    ),
    "no address": ({"FARTHING_PUBLIC_URL": None}, "FARTHING_PUBLIC_URL must be an https address"),
    "no key": ({"FARTHING_MASTER_KEY": None}, "No master key"),
    "a key of zeros": ({"FARTHING_MASTER_KEY": "00" * 32}, RANDOM),
    "a key that repeats": ({"FARTHING_MASTER_KEY": "deadbeef" * 8}, RANDOM),
    "a key that counts": ({"FARTHING_MASTER_KEY": bytes(range(32)).hex()}, RANDOM),
    "a key that counts down": ({"FARTHING_MASTER_KEY": bytes(range(96, 0, -3)).hex()}, RANDOM),
    "a short word with zeros": ({"FARTHING_MASTER_KEY": "c0ffee" + "0" * 58}, RANDOM),
    "webhooks to private addresses": (
        {"FARTHING_WEBHOOK_PRIVATE": "true"},
        "FARTHING_WEBHOOK_PRIVATE",
    ),
}
if "webhook_private" not in Settings.__struct_fields__:
    del REFUSALS["webhooks to private addresses"]


def live(changes: Changes) -> dict[str, str]:
    return {name: value for name, value in {**FIT, **changes}.items() if value is not None}


def run(database: "Database", command: str, changes: Changes) -> subprocess.CompletedProcess[str]:
    plain = environment(database, FARTHING_PORT="0")
    for name in FIT:
        plain.pop(name, None)
    return subprocess.run(
        [*FARTHING, command],
        env=plain | live(changes),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def assert_refused(done: subprocess.CompletedProcess[str], sentence: str) -> None:
    assert done.returncode == 1
    assert done.stderr.startswith("farthing: "), done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSALS)
def test_live_does_not_serve_with(name: str, database: "Database") -> None:
    changes, sentence = REFUSALS[name]
    assert_refused(run(database, "serve", changes), sentence)


@pytest.mark.slow
def test_the_worker_refuses_what_the_service_refuses(database: "Database") -> None:
    for name in ("the sandbox's rail", "an http address", "a key of zeros"):
        changes, sentence = REFUSALS[name]
        assert_refused(run(database, "worker", changes), sentence)


@pytest.mark.slow
def test_live_does_not_serve_with_a_key_that_a_sandbox_made(
    tmp_path: Path, database: "Database"
) -> None:
    with Home(tmp_path) as home:
        key = home.master_key().hex()
    by_file: Changes = {
        "FARTHING_MASTER_KEY": None,
        "FARTHING_MASTER_KEY_FILE": str(home.master_key_file),
    }
    by_value: Changes = {"FARTHING_MASTER_KEY": key}
    for changes in (by_value, by_file):
        done = run(database, "serve", changes)
        assert_refused(done, "was made by `farthing up` for a sandbox")
        assert key not in done.stderr


@pytest.mark.slow
def test_there_is_no_live_up(tmp_path: Path, database: "Database") -> None:
    done = run(database, "up", {"XDG_DATA_HOME": str(tmp_path)})
    assert_refused(done, "FARTHING_ENVIRONMENT is `live`, and `farthing up` starts a sandbox")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("command", ["serve", "worker"])
def test_what_is_fit_for_live_gets_as_far_as_its_database(
    database: "Database", command: str
) -> None:
    nobody = f"postgresql://x:x@127.0.0.1:{free_port()}/x"
    done = run(database, command, {"FARTHING_DATABASE_URL": nobody})
    assert_refused(done, "The database cannot be reached")


@pytest.mark.parametrize("name", REFUSALS)
def test_the_sandbox_takes_what_live_refuses(name: str) -> None:
    given = live(REFUSALS[name][0])
    Settings.load(given | {"FARTHING_ENVIRONMENT": "sandbox"}).require_fit_for_live()
    with pytest.raises(SettingsError):
        Settings.load(given).require_fit_for_live()


def test_a_thousand_random_keys_are_fit() -> None:
    for _ in range(1000):
        Settings.load(live({"FARTHING_MASTER_KEY": secrets.token_hex(32)})).require_fit_for_live()
