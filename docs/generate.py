"""Write the reference pages from the code: `python docs/generate.py`, or `--check` to compare."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
from msgspec import inspect as shape

from farthing.catalog import MACHINES, OBJECTS, OPERATIONS
from farthing.config import PREFIX, Settings
from farthing.core.errors import CATALOGUE
from farthing.core.machine import Machine
from farthing.http import openapi, system
from farthing.http.openapi import words
from farthing.http.openapi.compatibility import breaking
from farthing.http.openapi.responses import sentence
from farthing.http.openapi.sections import Section, sections
from farthing.rails.moods import MOODS_IN_WORDS
from farthing.rails.numbers import MAGIC_CARDS, MAGIC_SORT_CODES
from farthing.rails.sandbox import RECEIVING

if TYPE_CHECKING:
    from farthing.http.service import Service

FOLDER: Final = Path(__file__).parent / "reference"
DOCUMENT: Final = "openapi.json"

# More operations than this are counted, not listed; operations.md has them all.
_FEW: Final = 4
_NOTE: Final = "<!-- Made by docs/generate.py from the code; edit the code instead. -->\n"


def pages() -> dict[str, str]:
    """Return every page by the name of its file."""
    listed = listed_sections()
    return {
        "errors.md": _NOTE + "\n".join(_errors(listed)),
        "events.md": _NOTE + "\n".join(_events()),
        "operations.md": _NOTE + "\n".join(_operations(listed)),
        "sandbox.md": _NOTE + "\n".join(_sandbox()),
        "settings.md": _NOTE + "\n".join(_settings()),
        "states.md": _NOTE + "\n".join(_states()),
        DOCUMENT: json.dumps(document(), indent=2, ensure_ascii=False) + "\n",
    }


def listed_sections() -> tuple[Section, ...]:
    """Return the sections of the reference."""
    # The operations are only described here and never called, so they need no service.
    return sections(system.operations(cast("Service", None)))


def document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    return openapi.describe(listed_sections())


def committed_document() -> dict[str, Any]:
    """Return the document as it was last written."""
    found: dict[str, Any] = json.loads((FOLDER / DOCUMENT).read_text("utf-8"))
    return found


def stale() -> list[str]:
    """Name the pages that differ from what the code says, and those that it does not know."""
    expected = pages()
    kept = {one.name: one.read_text("utf-8") for one in FOLDER.iterdir()}
    return sorted(
        name for name in expected.keys() | kept.keys() if kept.get(name) != expected.get(name)
    )


def _table(*headings: str) -> Iterator[str]:
    yield f"| {' | '.join(headings)} |"
    yield f"|{'---|' * len(headings)}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _errors(listed: tuple[Section, ...]) -> Iterator[str]:
    yield "# Errors\n"
    yield "Every error is a problem document of RFC 9457; decide by its `code`.\n"
    yield from _table("status", "code", "meaning", "operations")
    operations = [one for section in listed for one in section.operations]
    for code, problem in CATALOGUE.items():
        raised = [one.id for one in operations if problem in one.errors]
        where = ", ".join(raised) if len(raised) <= _FEW else f"{len(raised)} of {len(operations)}"
        yield _row(str(problem.status), f"`{code}`", sentence(problem), where)
    yield ""


_EVENTS: Final = """\
# Events

Every change of every object is one event, written in the same commit, in one log for each tenant.
Its `data` is the object as it was right after, of the version `objectVersion`. `GET
/v1/events/schemas` returns this catalogue with a JSON Schema for each type. There may be new types
at any time: ignore those that you do not know.

To follow the log, read `GET /v1/events` and keep its `nextCursor`; or keep `GET /v1/events/stream`
open, and come back with the last `id` in `Last-Event-ID`. Both tell every event once and in order,
also when the service is restarted. A filter by type names types as in the tables; `*` stands for
any text, and commas separate several.
"""


def _events() -> Iterator[str]:
    yield _EVENTS
    for table in OBJECTS.values():
        yield f"## {table.noun.replace('_', ' ').capitalize()}\n"
        yield from _table("type", "when", "`data`")
        for what, when in table.events.items():
            yield _row(f"`{table.noun}.{what}`", when, f"`{table.shown.__name__}`")
        yield ""


def _operations(listed: tuple[Section, ...]) -> Iterator[str]:
    yield "# Operations\n"
    for section in listed:
        yield f"## {section.title}\n"
        yield f"{section.sentence}\n"
        yield from _table("operation", "address", "what it does", "who may", "errors")
        for one in section.operations:
            codes = ", ".join(problem.code for problem in one.errors)
            address = f"`{one.method} {one.path}`"
            forms = "".join(f", `{name}`" for name in one.formats)
            what = f"{one.summary} (JSON{forms})" if forms else one.summary
            yield _row(f"`{one.id}`", address, what, words.who_may(one.who), codes)
        yield ""


def _settings() -> Iterator[str]:
    yield "# Settings\n"
    yield "Read from the environment when a process starts.\n"
    yield from _table("name", "kind", "default", "meaning")
    info = cast("shape.StructType", shape.type_info(Settings))
    described = msgspec.json.schema(Settings)["$defs"]["Settings"]["properties"]
    for field in info.fields:
        schema = described[field.name]
        default = f"`{field.default}`" if field.default != "" else "none"
        name = f"`{PREFIX}{field.name.upper()}`"
        yield _row(name, _kind(schema), default, schema["description"])
    yield ""


def _sandbox() -> Iterator[str]:
    yield from ("# The sandbox's numbers", "")
    yield "These numbers have a fate; any other number that could exist simply works. The sandbox"
    yield "remembers what became of every order, also when it is restarted."
    yield from ("", "## Cards", "", "Any expiry that is not past, and any three digits as CVV.", "")
    yield from _table("number", "type", "what happens")
    for card in MAGIC_CARDS:
        yield _row(f"`{card.number}`", card.type, card.what)
    yield from ("", "## Bank accounts", "")
    yield "The account number does not matter. The sort code counts inside a British IBAN too."
    yield from ("", *_table("sort code", "what happens"))
    for code in MAGIC_SORT_CODES:
        yield _row(f"`{code.sort_code}`", code.what)
    yield from (
        "",
        "An account with a sort code and an IBAN is paid by the sort code in GBP, and by",
    )
    yield from ("the IBAN in every other currency.", "", "## Transfers to the sandbox", "")
    yield "The sort code and the account number take GBP; the IBAN takes every currency."
    yield from ("", *_table("sort code", "account number", "IBAN", "BIC"))
    account = (RECEIVING.sort_code, RECEIVING.account_number, RECEIVING.iban, RECEIVING.bic)
    yield _row(*(f"`{one}`" for one in account))
    yield from _controls()


def _controls() -> Iterator[str]:
    yield from ("", "## Controls", "")
    yield "Whatever a bank, a network or a payer can do happens at once when a request says so."
    yield "What is not possible now is refused with 409, and `detail` says what is."
    yield from ("", *_table("address", "what happens"))
    for one in OPERATIONS:
        if one.sandbox_only:
            yield _row(f"`{one.method} {one.path}`", f"{one.summary}.")
    yield from ("", "## Moods of the rail", "")
    yield "A mood is the tenant's own. It is about orders and news, not about verifications, and"
    yield "the controls above work in every mood. `refuse` says how many orders are refused."
    yield from ("", *_table("mood", "what happens"))
    for mood, what in MOODS_IN_WORDS.items():
        yield _row(f"`{mood}`", what)
    yield ""


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(f"`{one}`" for one in schema["enum"])
    if schema["type"] == "integer":
        return f"whole number, {schema['minimum']} to {schema['maximum']}"
    return {"string": "text", "boolean": "true or false"}[schema["type"]]


def _states() -> Iterator[str]:
    yield "# States\n"
    yield "Who may take a way stands in the tables; `GET /v1/machines` returns the same as data.\n"
    for machine in MACHINES:
        yield f"## {machine.noun.replace('_', ' ').capitalize()}\n"
        yield from _diagram(machine)
        yield f"{words.machine_table(system.describe(machine))}\n"


def _diagram(machine: Machine) -> Iterator[str]:
    yield "```mermaid"
    yield "stateDiagram-v2"
    yield f"    [*] --> {machine.initial}"
    for source, target in dict.fromkeys((row.source, row.target) for row in machine.table):
        yield f"    {source} --> {target}"
    starts = {row.source for row in machine.table}
    yield from (f"    {state} --> [*]" for state in machine.states if state not in starts)
    yield "```\n"


def _refuse_to_break() -> None:
    """Keep a page from being written that would hide what breaks a caller."""
    if not (FOLDER / DOCUMENT).exists():
        return
    broken = breaking(committed_document(), document())
    if broken:
        listing = "\n  ".join(broken)
        sys.exit(
            f"This would break a caller:\n  {listing}\n"
            "Add instead of changing; `--break` writes the pages all the same."
        )


def main(arguments: list[str]) -> None:
    """Write the pages, or only compare them."""
    if "--check" in arguments:
        if stale():
            sys.exit(f"Stale in {FOLDER.name}: {', '.join(stale())}. Run `make docs`.")
        return
    if "--break" not in arguments:
        _refuse_to_break()
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
