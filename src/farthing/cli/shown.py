"""Answers for people: a table for many, a list of facts for one."""

import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from farthing.cli import amounts

# What is worth a column, in the order in which columns stand.
_COLUMNS: Final = (
    *("id", "objectId", "accountId", "number", "noun", "name", "type", "kind", "eventType"),
    *("flow", "purpose", "method", "scheme", "cardNumberSuffix", "expiry", "accountNumberSuffix"),
    *("sortCode", "reference", "url", "amount", "currencyISO", "completeBalance"),
    *("availableBalance", "stateId", "status", "states", "fromStateId", "toStateId", "actor"),
    *("why", "reason", "remaining", "effect", "changes", "balance", "createdAt", "description"),
    "tags",
)
# What a narrow terminal shows rather than the rest.
_FIRST: Final = (
    *("id", "noun", "number", "eventType", "name", "stateId", "status", "amount", "effect"),
    *("changes", "createdAt", "fromStateId", "toStateId", "actor", "reason", "why", "states"),
    "balance",
    *("availableBalance", "flow", "type", "cardNumberSuffix", "url", "reference", "currencyISO"),
)
# With an identifier, the time is told by `get`.
_LATER: Final = frozenset({"createdAt", "reason", "why", "states"})
# What a column is called where its name is long.
_HEADINGS: Final = {
    "stateId": "state",
    "fromStateId": "from",
    "toStateId": "to",
    "createdAt": "created",
    "availableBalance": "available",
    "completeBalance": "complete",
    "currencyISO": "currency",
    "cardNumberSuffix": "suffix",
    "accountNumberSuffix": "suffix",
    "eventType": "event",
    "objectId": "object",
    "accountId": "account",
}
# Sentences, which may take several lines.
_FOLDS: Final = frozenset({"why", "reason", "states", "description", "changes"})
_FOLDED: Final = 20
_GAP: Final = 2
_PATIENCE: Final = 1.0
_MOST_COLUMNS: Final = 11
# Nobody cuts a line that goes to a file or to another program.
_WIDE: Final = 1000

_GOOD: Final = frozenset({"ENABLED", "EFFECTED", "ok", "DELIVERED", "delivered"})
_BAD: Final = frozenset({"FAILED", "ERRORED", "DISABLED", "DELETED", "down", "failed", "BLOCKED"})


def console(*, wraps: bool = False) -> Console:
    """Return standard output; what wraps is for the terminal to wrap."""
    width = None if sys.stdout.isatty() and not wraps else _WIDE
    return Console(width=width, highlight=False)


def say(sentence: str) -> None:
    """Tell people something that is no part of an answer."""
    print(sentence, file=sys.stderr)  # noqa: T201 - this is the command line


@contextmanager
def waiting(sentence: str) -> Iterator[None]:
    """Show whoever waits for long in front of a terminal that something happens."""
    status = Console(stderr=True).status(sentence)
    # What is quick needs no word.
    soon = threading.Timer(_PATIENCE, status.start)
    soon.start()
    try:
        yield
    finally:
        soon.cancel()
        soon.join()
        status.stop()


def show(answer: Any) -> None:
    """Show an answer, whatever it is."""
    results = answer.get("results") if isinstance(answer, dict) else None
    if isinstance(results, list):
        Pages().show(results)
    else:
        _show_one(console(), answer)


class Pages:
    """A table that grows page by page: the first one decides on its columns."""

    def __init__(self) -> None:
        self._out = console()
        self._widths: dict[str, int] = {}

    def show(self, rows: list[Any]) -> None:
        """Show the next page."""
        if not self._widths and not rows:
            self._out.print("There is none.")
            return
        is_first = not self._widths
        if is_first:
            self._widths = dict.fromkeys(columns_of(rows, self._out.width), 0)
        table = plain(*self._widths)
        table.show_header = is_first
        for row in rows:
            table.add_row(*(word(row.get(one, "")) for one in self._widths))
        for column, (name, width) in zip(table.columns, self._widths.items(), strict=True):
            self._widths[name] = max(width, _width(name, rows))
            column.min_width = None if name in _FOLDS else self._widths[name]
        self._out.print(table)


def columns_of(rows: list[Any], room: int) -> list[str]:
    """Return the columns of a table that is so wide."""
    has_money = any(amounts.CURRENCY in row and amounts.NAMES & set(row) for row in rows)
    # The currency stands beside each amount.
    left_out = {amounts.CURRENCY} if has_money else set()
    known = [one for one in _COLUMNS if one not in left_out and any(one in row for row in rows)]
    # Whatever has none of these is shown as it is.
    return fitting(known[:_MOST_COLUMNS] or list(rows[0]), rows, room)


def fitting(columns: list[str], results: list[Any], room: int) -> list[str]:
    """Return the columns that have room, the most telling ones if not all have."""
    kept: list[str] = []
    later = _LATER if "id" in columns else frozenset[str]()
    for one in sorted(columns, key=lambda one: 99 if one in later else _rank(one)):
        width = min(_width(one, results), _FOLDED if one in _FOLDS else _WIDE) + _GAP
        if width <= room or not kept:
            room -= width
            kept.append(one)
    return [one for one in columns if one in kept]


def _rank(column: str) -> int:
    return _FIRST.index(column) if column in _FIRST else len(_FIRST)


def _width(column: str, rows: list[Any]) -> int:
    heading = len(_HEADINGS.get(column, column))
    return max(heading, *(len(word(row.get(column, ""))) for row in rows)) if rows else heading


def plain(*columns: str) -> Table:
    """Return a table without lines, whose cells can be copied."""
    table = Table(box=None, padding=(0, _GAP, 0, 0), header_style="bold", pad_edge=False)
    for one in columns:
        is_amount, is_id = one in amounts.NAMES, one == "id" or one.endswith("Id")
        table.add_column(
            _HEADINGS.get(one, one),
            no_wrap=is_id or is_amount,
            overflow="fold",
            justify="right" if is_amount else "left",
        )
    return table


def _show_one(out: Console, answer: Any) -> None:
    facts: list[tuple[str, Text]] = []
    tables: list[tuple[str, list[Any]]] = []
    for name, value in _facts(answer):
        if isinstance(value, list) and value and isinstance(value[0], dict):
            tables.append((name, value))
        elif name == "possible" and not value:
            facts.append((name, Text("nothing from here")))
        elif value not in ([], {}):
            facts.append((name, word(value)))
    width = max((len(name) for name, _ in facts), default=0) + _GAP
    for name, value in facts:
        # The terminal breaks a line that is too long, so that a key can be copied whole.
        out.print(Text.assemble((name.ljust(width), "bold"), value), soft_wrap=True)
    for name, rows in tables:
        out.print(Text(f"\n{name}", "bold"))
        Pages().show(rows)


def _facts(value: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every fact with its name; what stands deeper has a longer one."""
    if not isinstance(value, dict):
        yield above, value
        return
    for name, one in value.items():
        if isinstance(one, dict) and one:
            # What a trigger answers is its object, and one knows which.
            yield from _facts(one, above if name == "object" else f"{above}{name}.")
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
