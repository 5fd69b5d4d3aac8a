"""The OpenAPI document generates a TypeScript client that works, with tools of the registry."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from tests.client.conftest import Running
from tests.typescript import page
from tests.typescript.conftest import HERE, PATIENCE, require_node

PACKAGE = json.loads((HERE / "package.json").read_text("utf-8"))
LOCK = json.loads((HERE / "package-lock.json").read_text("utf-8"))


def node(script: Path, folder: Path, **more: str) -> str:
    done = subprocess.run(
        ["node", script],  # noqa: S607 - the one that the tools were installed with
        cwd=folder,
        env=os.environ | more,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_flow_goes_through_with_the_types_that_the_document_gives(
    built: Path, running: Running
) -> None:
    shop = running.new_shop()
    told = node(
        built / "flow.js",
        built,
        FARTHING_URL=running.url,
        FARTHING_API_KEY=shop.key,
        FARTHING_TENANT=shop.id,
    )
    assert told == "The flow went through.\n"


@pytest.mark.slow
def test_the_quick_start_prints_what_it_says_in_typescript(built: Path, home: Path) -> None:
    assert node(built / "quick-start.js", home) == page.expected()


@pytest.mark.parametrize(
    ("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)]
)
def test_without_node_it_says_so_aloud_and_in_ci_it_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ci: str, outcome: type[Exception]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="THE TYPESCRIPT CLIENT IS NOT TESTED: there is no node"):
        require_node()


def test_the_quick_start_installs_the_packages_that_are_tested() -> None:
    named = re.findall(r"(?<= )(@?[a-z][\w/-]*)(?:@(\d+))?(?= |$)", " ".join(installed()))
    pinned = PACKAGE["dependencies"] | PACKAGE["devDependencies"]
    assert {name for name, _ in named} == set(pinned)
    assert all(pinned[name].startswith(major) for name, major in named)


def installed() -> list[str]:
    return [
        re.sub(r"npm install( --save-dev)?", "", line)
        for line in page.commands()
        if line.startswith("npm ")
    ]


def test_the_lock_file_pins_everything_and_names_no_place_to_get_it_from() -> None:
    packages = {name: one for name, one in LOCK["packages"].items() if name}
    assert len(packages) > 20
    for name, one in packages.items():
        assert one["integrity"].startswith("sha512-"), name
        assert not one.keys() & {"resolved", "link"}, name
    root = LOCK["packages"][""]
    assert root["dependencies"] == PACKAGE["dependencies"]
    assert root["devDependencies"] == PACKAGE["devDependencies"]
