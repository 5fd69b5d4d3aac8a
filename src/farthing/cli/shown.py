"""Answers for people: a table for many, a list of facts for one."""

import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

# What is worth a column, in the order in which columns stand.
_COLUMNS: Final = (
    *("id", "objectId", "accountId", "number", "noun", "name", "type", "kind", "eventType"),
    *("flow", "purpose", "method", "scheme", "cardNumberSuffix", "expiry", "accountNumberSuffix"),
    *("sortCode", "reference", "url", "amount", "currencyISO", "completeBalance"),
    *("availableBalance", "stateId", "status", "states", "toStateId", "why", "remaining"),
    *("effect", "balance", "tags", "createdAt"),
)
# What a narrow terminal shows rather than the rest.
_FIRST: Final = (
    *("id", "noun", "number", "type", "eventType", "name", "stateId", "status", "amount"),
    *("availableBalance", "currencyISO", "cardNumberSuffix", "url", "reference", "effect"),
)
_GAP: Final = 2
_MOST_COLUMNS: Final = 9
# Nobody cuts a line that goes to a file or to another program.
_WIDE: Final = 1000

_GOOD: Final = frozenset({"ENABLED", "EFFECTED", "ok", "DELIVERED", "delivered"})
_BAD: Final = frozenset({"FAILED", "ERRORED", "DISABLED", "DELETED", "down", "failed", "BLOCKED"})


def console(*, wraps: bool = False) -> Console:
    """Return standard output; what wraps is for the terminal to wrap."""
    width = None if sys.stdout.isatty() and not wraps else _WIDE
    return Console(width=width, highlight=False)


def show(answer: Any) -> None:
    """Show an answer, whatever it is."""
    out = console()
    results = answer.get("results") if isinstance(answer, dict) else None
    if isinstance(results, list):
        _show_many(out, results)
        if answer.get("nextCursor") and answer.get("hasMore", True):
            out.print(Text(f"There are more: --cursor {answer['nextCursor']}", "dim"))
    else:
        _show_one(out, answer)


def _show_many(out: Console, results: list[Any]) -> None:
    if not results:
        out.print("There is none.")
        return
    columns = [one for one in _COLUMNS if any(one in row for row in results)][:_MOST_COLUMNS]
    # Whatever has none of these is shown as it is.
    columns = fitting(columns or list(results[0]), results, out.width)
    table = plain(*columns)
    for row in results:
        table.add_row(*(word(row.get(one, "")) for one in columns))
    out.print(table)


def fitting(columns: list[str], results: list[Any], room: int) -> list[str]:
    """Return the columns that have room, the most telling ones if not all have."""
    kept: list[str] = []
    for one in sorted(columns, key=lambda one: _FIRST.index(one) if one in _FIRST else 99):
        width = max(len(one), *(len(word(row.get(one, ""))) for row in results)) + _GAP
        if width <= room or not kept:
            room -= width
            kept.append(one)
    return [one for one in columns if one in kept]


def plain(*columns: str) -> Table:
    """Return a table without lines, whose cells can be copied."""
    table = Table(box=None, padding=(0, _GAP, 0, 0), header_style="bold")
    for one in columns:
        is_id = one == "id" or one.endswith("Id")
        table.add_column(one, no_wrap=is_id, overflow="fold")
    return table


def _show_one(out: Console, answer: Any) -> None:
    table = plain()
    table.show_header = False
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    tables: list[tuple[str, list[Any]]] = []
    for name, value in _facts(answer):
        if isinstance(value, list) and value and isinstance(value[0], dict):
            tables.append((name, value))
        elif value not in ([], {}):
            table.add_row(name, word(value))
    out.print(table)
    for name, rows in tables:
        out.print(Text(f"\n{name}", "bold"))
        _show_many(out, rows)


def _facts(value: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every fact with its name; what stands deeper has a longer one."""
    if not isinstance(value, dict):
        yield above, value
        return
    for name, one in value.items():
        if isinstance(one, dict) and one:
            yield from _facts(one, f"{above}{name}.")
        else:
            yield f"{above}{name}", one


def word(value: Any) -> Text:
    """Write a value in a word or two, with a colour if it is a good or a bad one."""
    if isinstance(value, dict):
        value = _joined(f"{name}={one}" for name, one in value.items())
    elif isinstance(value, list):
        value = _joined(str(one) for one in value)
    elif isinstance(value, bool):
        value = "yes" if value else "no"
    # People say tx, and every command takes it.
    text = str(value).replace("transaction/", "tx/")
    style = "green" if text in _GOOD else "red" if text in _BAD else ""
    # Control characters of a name or a tag must not reach the terminal.
    return Text("".join(one if one.isprintable() else " " for one in text), style)


def _joined(parts: Iterable[str]) -> str:
    return ", ".join(parts)
