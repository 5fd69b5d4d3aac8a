"""Every field of every body, from the types themselves, and what must not stand in it."""

import copy
import functools
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

import hypothesis
from hypothesis import strategies
from msgspec import inspect as shape
from tests.http.bad_texts import (
    DIGITS_ELSEWHERE,
    LINES,
    MARK,
    NEARLY_TOO_MUCH,
    NUMBER,
    UNFIT,
    WIDE_LETTERS,
)

from farthing.catalog import OPERATIONS
from farthing.core.operation import Operation

_NAME: Final = "a-name"
_STRINGS: Final = (shape.StrType, shape.LiteralType, shape.EnumType)

_BY_TYPE: Final[dict[str, Any]] = {
    "a number": NUMBER,
    "a fraction": 0.5,
    "true": True,
    "a text": MARK,
    "a list": [MARK],
    "an object": {"unheardOf": MARK},
}
_FITTING: Final[dict[type[shape.Type], set[str]]] = {
    shape.StrType: {"a text"},
    shape.LiteralType: {"a text"},
    shape.EnumType: {"a text"},
    shape.DateTimeType: {"a text"},
    shape.BoolType: {"true"},
    shape.IntType: {"a number"},
    shape.ListType: {"a list"},
    shape.DictType: {"an object"},
    shape.StructType: {"an object"},
    # What is wrong with it depends on the rest of the body.
    shape.AnyType: set(_BY_TYPE),
}
# Of the things that a rule can do, one that says a word.
_DEEDS: Final[dict[str, dict[str, Any]]] = {
    "action": {"action": "alert", "message": "x"},
    "message": {"action": "alert", "message": "x"},
    "code": {"action": "refuse", "message": "x"},
    "tag": {"action": "tag", "tag": "x"},
    "name": {"action": "annotate", "name": "x", "value": "x"},
    "value": {"action": "annotate", "name": "x", "value": "x"},
    "fourEyes": {"action": "approve"},
    "expiresIn": {"action": "approve"},
}
_IN_A_DEED: Final = ("then", "0")


@dataclass(frozen=True)
class Place:
    """A field of a body, or one item or value inside it."""

    operation: Operation
    path: tuple[str, ...]
    required: bool
    kind: shape.Type
    extra: dict[str, Any]
    published: dict[str, Any]
    # The field that this one is inside of.
    parent: "Place | None"

    def __str__(self) -> str:
        return f"{self.operation.id}:{'.'.join(self.path)}"

    @property
    def pointer(self) -> str:
        return "".join(f"/{name}" for name in self.path)

    @property
    def is_text(self) -> bool:
        return isinstance(self.kind, _STRINGS)

    @property
    def is_object(self) -> bool:
        return isinstance(self.kind, shape.StructType)

    @property
    def is_map(self) -> bool:
        return isinstance(self.kind, shape.DictType)

    @property
    def is_free(self) -> bool:
        """Tell whether any text will do, if it is not too long."""
        kind = self.kind
        return isinstance(kind, shape.StrType) and not (kind.pattern or "one_of" in self.extra)

    @property
    def names_its_letters(self) -> bool:
        """Tell whether the pattern says what is allowed, rather than what is not."""
        pattern = getattr(self.kind, "pattern", None)
        return not self.is_free and (pattern is None or "[^" not in pattern)

    @functools.cached_property
    def sample(self) -> Any:
        """A value that fits, from the example of the operation if it has one."""
        value: Any = self.operation.body_example
        for name in self.path:
            if isinstance(value, list):
                value = value[0] if value else None
            else:
                value = value.get(name) if isinstance(value, dict) else None
        return _sample(self.kind, self.extra, self.published) if value is None else value

    def put(self, body: dict[str, Any], value: object) -> dict[str, Any]:
        """Return a copy of a body that has this value here."""
        changed = copy.deepcopy(body)
        if self.path[:-1] == _IN_A_DEED:
            changed["then"] = [dict(_DEEDS[self.path[-1]])]
        inside = changed if self.parent is None else self.parent.open(changed)
        if isinstance(inside, list):
            inside[:] = [value]
        else:
            inside[self.path[-1]] = value
        return changed

    def left_out(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return a copy of a body that does not have this field."""
        changed = self.put(body, None)
        inside = changed if self.parent is None else self.parent.open(changed)
        del inside[self.path[-1]]
        return changed

    def open(self, body: dict[str, Any]) -> Any:
        """Return what a body has here; if it has nothing, something that fits is put there."""
        inside = body if self.parent is None else self.parent.open(body)
        if isinstance(inside, list):
            inside[:] = inside[:1] or [copy.deepcopy(self.sample)]
            return inside[0]
        return inside.setdefault(self.path[-1], copy.deepcopy(self.sample))


def places(operation: Operation) -> list[Place]:
    """Return every field of an operation's body, also those inside others."""
    if operation.body is None:
        return []
    return list(_inside(operation, shape.type_info(operation.body), None))


def wrong_values(place: Place) -> Iterator[tuple[str, Any]]:
    """Yield what must be refused at a place, each with a name for it."""
    fitting = _FITTING[type(place.kind)]
    yield from ((name, one) for name, one in _BY_TYPE.items() if name not in fitting)
    if place.is_text:
        lines = place.extra.get("lines", False)
        yield from ((name, one) for name, one in UNFIT.items() if name not in LINES or not lines)
        yield from _misshapen(place)
    if isinstance(place.kind, shape.ListType) and place.kind.min_length:
        yield "too few", []
    if isinstance(place.kind, shape.ListType | shape.DictType):
        most = place.kind.max_length
        assert most is not None, f"{place} could grow without end"
        many = {f"{NUMBER}-{index}": "x" for index in range(most + 1)}
        yield "too many", list(many) if isinstance(place.kind, shape.ListType) else many


def right_values(place: Place) -> Iterator[tuple[str, str]]:
    """Yield what must be accepted of a free text, although it is unusual."""
    assert isinstance(place.kind, shape.StrType)
    most = place.kind.max_length
    assert most is not None, f"{place} could grow without end"
    yield "as long as may be", "x" * most
    yield "as long as may be, outside the basic plane", "😀" * most
    yield "white space around it", " \u00a0x\u2003 "
    yield "digits of another script", DIGITS_ELSEWHERE["Arabic-Indic"]
    yield "what other formats are made of", "<b>' OR 1=1; --\\ %s ${x} {{x}}</b>"
    if not place.kind.min_length:
        yield "nothing", ""


def _misshapen(place: Place) -> Iterator[tuple[str, str]]:
    sample = str(place.sample)
    if not place.is_free or cast("shape.StrType", place.kind).min_length:
        yield "nothing", ""
    if not place.is_free:
        yield "a text that nearly fills the body", MARK + "9" * NEARLY_TOO_MUCH
        # A pattern may admit these, where a text is nearly free.
        pattern = getattr(place.kind, "pattern", None) or "(?!)"
        odd = {
            "something else": MARK,
            "a line of its own": f"{sample}\n",
            "a space before it": f" {sample}",
            "a space behind it": f"{sample} ",
            "a space of another kind before it": f"\u00a0{sample}",
        }
        yield from ((name, one) for name, one in odd.items() if not re.fullmatch(pattern, one))
    most = getattr(place.kind, "max_length", None)
    if most is not None:
        yield "one character too many", MARK + "x" * (most + 1 - len(MARK))
        yield "a text that nearly fills the body", MARK + "x" * NEARLY_TOO_MUCH
    if place.names_its_letters:
        yield "letters of full width", sample.translate(WIDE_LETTERS) + "\u3000"
        yield "a byte order mark before it", f"\ufeff{sample}"
        for script, digits in DIGITS_ELSEWHERE.items():
            table = str.maketrans(string.digits, digits)
            if sample.translate(table) != sample:
                yield f"digits of another script, {script}", sample.translate(table)


def _inside(operation: Operation, kind: shape.Type, parent: Place | None) -> Iterator[Place]:
    """Yield the fields of a type, and what is inside of them."""
    for name, inner, required in _parts(kind):
        bare, extra, published = _bare(inner)
        path = (*(parent.path if parent else ()), name)
        place = Place(operation, path, required, bare, extra, published, parent)
        yield place
        yield from _inside(operation, bare, place)


def _parts(kind: shape.Type) -> list[tuple[str, shape.Type, bool]]:
    if isinstance(kind, shape.StructType):
        return [(one.encode_name, one.type, one.required) for one in kind.fields]
    if isinstance(kind, shape.ListType):
        return [("0", kind.item_type, True)]
    if isinstance(kind, shape.DictType):
        return [(_NAME, kind.value_type, True)]
    return []


def _bare(kind: shape.Type) -> tuple[shape.Type, dict[str, Any], dict[str, Any]]:
    """Return a type without what is said about it, and what is said."""
    extra: dict[str, Any] = {}
    published: dict[str, Any] = {}
    while isinstance(kind, shape.Metadata | shape.UnionType):
        if isinstance(kind, shape.Metadata):
            extra |= kind.extra or {}
            published |= kind.extra_json_schema or {}
            kind = kind.type
        else:
            (kind,) = (one for one in kind.types if not isinstance(one, shape.NoneType))
    return kind, extra, published


def _sample(kind: shape.Type, extra: dict[str, Any], published: dict[str, Any]) -> Any:
    """Make up a value that fits."""
    if isinstance(kind, shape.StructType):
        needed = [one for one in kind.fields if one.required]
        return {one.encode_name: _sample(*_bare(one.type)) for one in needed}
    if isinstance(kind, shape.LiteralType):
        return kind.values[0]
    if isinstance(kind, shape.StrType):
        return _sample_text(kind, extra, published)
    empty: dict[type[shape.Type], Any] = {
        shape.ListType: [],
        shape.DictType: {},
        shape.BoolType: True,
        shape.IntType: 1,
        shape.AnyType: 1,
    }
    return empty[type(kind)]


def _sample_text(kind: shape.StrType, extra: dict[str, Any], published: dict[str, Any]) -> str:
    if "examples" in published:
        return str(published["examples"][0])
    if "one_of" in extra:
        return str(min(extra["one_of"]))
    if kind.pattern is None:
        return "x"
    return _fitting(kind.pattern)


@functools.cache
def _fitting(pattern: str) -> str:
    """Make up a text that fits a pattern, the same each time."""
    fitting = strategies.from_regex(re.compile(pattern, re.ASCII), fullmatch=True)
    once = hypothesis.settings(database=None, derandomize=True, phases=[hypothesis.Phase.generate])
    return hypothesis.find(fitting, lambda _: True, settings=once)


PLACES: Final = [place for operation in OPERATIONS for place in places(operation)]
FIELDS: Final = [place for place in PLACES if place.path[-1] not in {"0", _NAME}]
