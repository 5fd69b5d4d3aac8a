"""The language in words, as data for its documentation."""

from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct

from farthing.core.expressions.functions import (
    FUNCTIONS,
    MACROS,
    MATCHES,
    METHODS,
    OPERATORS,
    WRITTEN_OUT,
    Signature,
)
from farthing.core.expressions.limits import LIMITS
from farthing.core.expressions.types import Type
from farthing.core.expressions.windows import QUESTIONS


class Entry(Struct, frozen=True):
    """One line: how it is written, the type that it has or gives, and what it is for."""

    written: str
    gives: str
    why: str


class Limit(Struct, frozen=True):
    """One bound of an expression."""

    name: str
    most: int
    why: str


class Reference(Struct, frozen=True):
    """All that a rule can say."""

    names: tuple[Entry, ...]
    operators: tuple[Entry, ...]
    functions: tuple[Entry, ...]
    macros: tuple[Entry, ...]
    history: tuple[Entry, ...]
    limits: tuple[Limit, ...]
    notes: tuple[str, ...]


NOTES = (
    "The language is CEL (https://cel.dev), without bytes, unsigned numbers, messages and dyn.",
    "int and double do not mix: 1 is an int, 1.0 is a double, double(...) and int(...) convert.",
    "Reading an optional field or a key that is absent fails, and what is null is absent.",
    'has(object.field) and "key" in object.map ask before whether it is there.',
    "&& and || need no more than one side if that side decides, also if the other side fails.",
    "A rule that fails while it runs is neither true nor false, and does not let anything pass.",
    "Times are in UTC. Whatever is counted from the history is written out.",
)


def describe(names: Mapping[str, Type], history: Collection[str]) -> Reference:
    """Describe the language for these names and words of the history."""
    return Reference(
        names=tuple(entry for name, one in names.items() for entry in _fields(name, one)),
        operators=tuple(_operators()),
        functions=tuple(_functions()),
        macros=tuple(Entry(how, _gives(name), why) for name, (how, why) in MACROS.items()),
        history=tuple(_questions(history)),
        limits=tuple(Limit(name, most, why) for name, (most, why) in LIMITS.items()),
        notes=NOTES,
    )


def _fields(written: str, given: Type, *, optional: bool = False) -> Iterator[Entry]:
    why = f"Optional: ask has({written}) before." if optional else ""
    yield Entry(written, str(given), why)
    for name, one in given.fields.items():
        yield from _fields(f"{written}.{name}", one, optional=name in given.optional)


def _operators() -> Iterator[Entry]:
    yield Entry("!bool", "bool", "Not.")
    yield Entry("bool && bool", "bool", "And.")
    yield Entry("bool || bool", "bool", "Or.")
    yield Entry("bool ? T : T", "T", "The one if it is true, else the other.")
    yield Entry("T == T", "bool", "Whether both are equal, for any type T.")
    yield Entry("T != T", "bool", "Whether they are not.")
    yield Entry("T in list(T)", "bool", "Whether a list has it.")
    yield Entry("string in map", "bool", "Whether a map has the key.")
    yield Entry("list(T)[int]", "T", "An element, from 0; fails if there is none.")
    yield Entry("map(string, T)[string]", "T", "What a map has for a key; fails if it is absent.")
    yield Entry("list(T) + list(T)", "list(T)", "Both, one after the other.")
    yield Entry("-int", "int", "The negative.")
    yield Entry("-double", "double", "The negative.")
    for sign, known in OPERATORS.items():
        for one in known:
            yield Entry(f"{one.takes[0]} {sign} {one.takes[1]}", str(one.gives), "")
    yield Entry("duration + timestamp", "timestamp", "")


def _functions() -> Iterator[Entry]:
    for name, known in FUNCTIONS.items():
        for one in known:
            yield Entry(f"{name}({_listed(one.takes)})", str(one.gives), one.why)
    for name, one in WRITTEN_OUT.items():
        yield Entry(f'{name}("...")', str(one.gives), one.why)
    for name, known in {**METHODS, "matches": (MATCHES,)}.items():
        for one in known:
            yield Entry(_method(name, one), str(one.gives), one.why)


def _method(name: str, one: Signature) -> str:
    target, *arguments = one.takes
    return f"{target}.{name}({_listed(arguments)})"


def _listed(types: Collection[Type]) -> str:
    return ", ".join(map(str, types))


def _gives(macro: str) -> str:
    return "list" if macro in {"filter", "map"} else "bool"


def _questions(history: Collection[str]) -> Iterator[Entry]:
    if not history:
        return
    words = " or ".join(f'"{word}"' for word in sorted(history))
    for name, (_, why) in QUESTIONS.items():
        how = f'history.{name}(what, duration("24h"), atLeast)'
        yield Entry(how, "int", f"{why} What is {words}; the least amount can be left out.")
