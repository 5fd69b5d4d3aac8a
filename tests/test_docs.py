"""The reference pages are made from the code, are fresh, and never take anything away."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from farthing.catalog import MACHINES, OBJECTS, OPERATIONS
from farthing.config import Settings
from farthing.core.errors import CATALOGUE
from farthing.http.openapi.compatibility import breaking
from farthing.rails.numbers import MAGIC_CARDS, MAGIC_SORT_CODES
from farthing.rails.sandbox import RECEIVING

GENERATE = Path(__file__).parents[1] / "docs" / "generate.py"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", GENERATE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_nothing_that_was_published_is_broken(generate: ModuleType) -> None:
    assert breaking(generate.committed_document(), generate.document()) == []


def test_the_reference_pages_are_fresh(generate: ModuleType) -> None:
    assert generate.stale() == [], "run `make docs` and look at what it changes"


def test_every_error_event_operation_setting_and_state_has_its_place(generate: ModuleType) -> None:
    pages = generate.pages()
    for code, problem in CATALOGUE.items():
        assert f"| {problem.status} | `{code}` |" in pages["errors.md"]
    for magic in MAGIC_CARDS:
        assert f"| `{magic.number}` | {magic.type} | {magic.what} |" in pages["sandbox.md"]
    for fate in MAGIC_SORT_CODES:
        assert f"| `{fate.sort_code}` | {fate.what} |" in pages["sandbox.md"]
    assert f"| `{RECEIVING.iban}` | `{RECEIVING.bic}` |" in pages["sandbox.md"]
    for operation in OPERATIONS:
        assert f"`{operation.method} {operation.path}`" in pages["operations.md"]
        for name in operation.formats:
            assert re.search(rf"{operation.summary} \(JSON, .*`{name}`", pages["operations.md"])
    for name in Settings.__struct_fields__:
        assert f"`FARTHING_{name.upper()}`" in pages["settings.md"]
    for table in OBJECTS.values():
        for what, when in table.events.items():
            assert f"| `{table.noun}.{what}` | {when} |" in pages["events.md"]
    for machine in MACHINES:
        assert all(f"{row.source} --> {row.target}" in pages["states.md"] for row in machine.table)


@pytest.fixture
def folder(generate: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder of its own to whoever writes pages."""
    monkeypatch.setattr(generate, "FOLDER", tmp_path / "reference")
    generate.main([])
    return tmp_path / "reference"


def test_fresh_pages_pass_the_check(generate: ModuleType, folder: Path) -> None:
    assert generate.main(["--check"]) is None
    assert (folder / "openapi.json").exists()


def test_the_check_names_what_is_stale_missing_or_left_behind(
    generate: ModuleType, folder: Path
) -> None:
    (folder / "errors.md").write_text("old")
    (folder / "states.md").unlink()
    (folder / "left-behind.md").touch()
    with pytest.raises(SystemExit, match=r"errors.md, left-behind.md, states.md. Run `make docs`"):
        generate.main(["--check"])


def test_pages_that_would_break_a_caller_are_written_only_on_demand(
    generate: ModuleType, folder: Path
) -> None:
    written = (folder / "openapi.json").read_text()
    more = written.replace('"paths": {', '"paths": {"/v1/gone": {"get": {"responses": {}}},', 1)
    (folder / "openapi.json").write_text(more)
    with pytest.raises(SystemExit, match="GET /v1/gone is gone"):
        generate.main([])
    generate.main(["--break"])
    assert (folder / "openapi.json").read_text() == written
