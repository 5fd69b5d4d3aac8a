"""Taste as a test: what we would otherwise have to say in every review."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.cases import for_each

from farthing.core.errors import CATALOGUE

ROOT = Path(__file__).parent.parent
SOURCE = sorted((ROOT / "src").rglob("*.py"))
PYTHON = SOURCE + [
    path
    for folder in ("tests", "bench", "tools", "examples")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
KINDS = {".py", ".sql", ".md", ".toml", ".lua", ".css", ".html", ".ts", ".sh", ".yaml", ""} | {
    ".service",
    ".conf",
    ".example",
}
TEXTS = [
    path
    for folder in ("src", "tests", "bench", "docs", "tools", "deploy", "examples", ".ci")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in KINDS and path.is_file()
]
RESOURCES = [path for path in sorted((ROOT / "src/farthing/resources").iterdir()) if path.is_dir()]

MOST_LINES_IN_A_FILE = 300
MOST_LINES_IN_A_FUNCTION = 50


def short(path: Path) -> str:
    return str(path.relative_to(ROOT))


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@for_each(SOURCE, short)
def test_a_file_that_passes_300_lines_is_asking_to_be_two(path: Path) -> None:
    assert len(lines(path)) <= MOST_LINES_IN_A_FILE


@for_each(SOURCE, short)
def test_a_function_that_passes_50_lines_is_asking_to_be_two(path: Path) -> None:
    for function in functions(path):
        length = (function.end_lineno or 0) - function.lineno + 1
        # A table of operations is data, not a function that does many things.
        if any(isinstance(node, ast.Call) for node in ast.walk(function)):
            assert length <= MOST_LINES_IN_A_FUNCTION or _only_returns_data(function), function.name


def _only_returns_data(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    last = function.body[-1]
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Assign, ast.Expr)
    return isinstance(last, ast.Return) and all(
        isinstance(one, inner) for one in function.body[:-1]
    )


@for_each(RESOURCES, short)
def test_whoever_knows_one_resource_knows_them_all(folder: Path) -> None:
    if folder.name == "__pycache__":
        return
    files = {path.name for path in folder.glob("*.py")}
    # The vault stands apart on purpose: it is the only file that sees a card number.
    more = {"vault.py"} if folder.name == "cards" else set()
    assert files == {"__init__.py", "model.py", "store.py", "actions.py", "api.py"} | more


@for_each(PYTHON, short)
def test_whatever_is_silenced_says_why(path: Path) -> None:
    for number, line in enumerate(lines(path), 1):
        if "# noqa" in line and path.name != "test_tidy.py":
            assert re.search(r"# noqa: [A-Z]+[0-9]+(, [A-Z]+[0-9]+)* - \w", line), number
        if "# type: ignore" in line and path.name != "test_tidy.py":
            assert re.search(r"# type: ignore\[[\w, -]+\]  # \w", line), number


@for_each(TEXTS, short)
def test_nothing_is_left_behind(path: Path) -> None:
    if path == Path(__file__):
        return
    text = path.read_text("utf-8")
    # Three times X alone is also a currency, and the end of many a BIC.
    assert not re.search(r"\b(TODO|FIXME)\b|# XXX", text)
    assert "\t" not in text or path.name == "Makefile"
    assert text.endswith("\n") or not text


def test_every_error_says_when_it_happens() -> None:
    for code, problem in CATALOGUE.items():
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", code)
        assert problem.__doc__, code
        assert problem.__doc__.strip().endswith("."), code


def test_every_dependency_has_a_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    block = text.split("\ndependencies = [\n")[1].split("\n]")[0]
    for line in block.splitlines():
        assert re.search(r'",\s+# .+: .+\.$', line), line


def test_decisions_are_numbered_half_pages_with_alternatives() -> None:
    decisions = sorted((ROOT / "docs/decisions").glob("*.md"))
    numbers = [int(path.name[:4]) for path in decisions]
    assert numbers == list(range(1, len(numbers) + 1))
    for path in decisions:
        text = path.read_text("utf-8")
        assert "## Alternatives" in text, path.name
        assert len(text.split()) < 600, path.name
