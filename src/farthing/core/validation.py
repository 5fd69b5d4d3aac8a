"""Validation: every fault of a body at once, each with its place, its code and its remedy.

msgspec stops at the first fault. This module reads the same types through `msgspec.inspect`,
walks the whole value, collects what is wrong, and leaves the building of the typed object to
msgspec. A value is never repeated in a message, because it could be a card number.
"""

import difflib
import functools
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Struct
from msgspec import inspect as shape

from farthing.core.clock import system_clock
from farthing.core.errors import Fault, ValidationFailed

S = TypeVar("S", bound=Struct)

# A check appends the faults of one value and returns the value with explicit nulls left out.
Check = Callable[[Any, str, list[Fault]], Any]

_Moment = Annotated[datetime, msgspec.Meta(tz=True)]

MOST_FAULTS: Final = 100
_UNFIT: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# Of a text that may have several lines.
_UNFIT_IN_LINES: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
# Also in groups: a card number is often written so.
_LONG_DIGITS: Final = re.compile(r"\d(?:[^A-Za-z0-9]?\d){5,}")


def parse(
    schema: type[S], value: object, now: datetime | None = None, *, is_plain: bool = False
) -> S:
    """Build the typed object, or raise all the faults of the value.

    A schema whose fields depend on each other, or on the time, has a static method `crossed`,
    which gets the fields that were given, None for those that are wrong in themselves, and yields
    a fault for whatever does not fit together. A value is plain if no string in it can have a
    character that is not printable ASCII.
    """
    crossed = getattr(schema, "crossed", None)
    if is_plain and _is_simple(schema):
        try:
            found = msgspec.convert(value, schema)
        except msgspec.ValidationError:
            # What is wrong, and where, is worked out below.
            pass
        else:
            if crossed is None or not list(crossed(value, now or system_clock())):
                return found
    faults: list[Fault] = []
    cleaned = _check_of(schema)(value, "", faults)
    if crossed is not None and isinstance(cleaned, dict):
        wrong = {fault.pointer.split("/")[1] for fault in faults}
        sound = {name: None if name in wrong else one for name, one in cleaned.items()}
        faults += crossed(sound, now or system_clock())
    if faults:
        raise ValidationFailed(faults[:MOST_FAULTS])
    return msgspec.convert(cleaned, schema)


@functools.cache
def _is_simple(schema: type[Struct]) -> bool:
    """Tell whether msgspec alone can say that a plain value is right."""
    waiting, known = [shape.type_info(schema)], set[type]()
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, shape.Metadata):
            if {"rule", "one_of"} & (kind.extra or {}).keys():
                return False
            waiting.append(kind.type)
        elif isinstance(kind, shape.DateTimeType):
            return False
        elif isinstance(kind, shape.StructType) and kind.cls not in known:
            known.add(kind.cls)
            waiting += [one.type for one in kind.fields]
        elif isinstance(kind, shape.UnionType):
            waiting += kind.types
        elif isinstance(kind, shape.ListType):
            waiting.append(kind.item_type)
        elif isinstance(kind, shape.DictType):
            waiting += [kind.key_type, kind.value_type]
    return True


def point(pointer: str, name: str) -> str:
    """Extend a JSON pointer; long runs of digits are hidden, they could be a card number.

    What is no text, such as half of a surrogate pair, could not even be said again.
    """
    shown = _UNFIT.sub("\ufffd", _LONG_DIGITS.sub("…", name[:100]))
    return f"{pointer}/{shown.replace('~', '~0').replace('/', '~1')}"


@functools.cache
def _check_of(schema: type[Struct]) -> Check:
    return _compile(shape.type_info(schema))


def _compile(kind: shape.Type) -> Check:
    extra: dict[str, Any] = {}
    while isinstance(kind, shape.Metadata):
        extra |= kind.extra or {}
        kind = kind.type
    if isinstance(kind, shape.StrType):
        return _string(kind, extra)
    return _COMPILERS[type(kind)](kind)


def _wrong_type(pointer: str, expected: str) -> Fault:
    return Fault(pointer, "wrong_type", f"Must be {expected}.")


def _instance(cls: type, expected: str) -> Check:
    def check(value: Any, pointer: str, faults: list[Fault]) -> Any:
        if not isinstance(value, cls):
            faults.append(_wrong_type(pointer, expected))
        return value

    return check


def _integer(kind: shape.IntType) -> Check:
    low, high = kind.ge, kind.le

    def check(value: Any, pointer: str, faults: list[Fault]) -> Any:
        if isinstance(value, float) and value.is_integer():
            # To JSON, 3.0 is 3.
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            faults.append(_wrong_type(pointer, "a whole number"))
        elif (low is not None and value < low) or (high is not None and value > high):
            detail = f"Must be a whole number from {low} to {high}."
            faults.append(Fault(pointer, "invalid_value", detail))
        return value

    return check


def _moment(_: shape.DateTimeType) -> Check:
    def check(value: Any, pointer: str, faults: list[Fault]) -> Any:
        if not isinstance(value, str):
            faults.append(_wrong_type(pointer, "a string"))
            return value
        moment = _read_moment(value)
        if moment is None:
            detail = "Must be a time of RFC 3339, such as 2026-01-31T12:00:00Z."
            faults.append(Fault(pointer, "invalid_format", detail))
        return moment

    return check


def _read_moment(value: Any) -> datetime | None:
    try:
        # In UTC, because a time zone can push a time out of the calendar.
        return msgspec.convert(value, _Moment).astimezone(UTC)
    except (msgspec.ValidationError, OverflowError, UnicodeError):
        return None


def _literal(values: list[str]) -> Check:
    listing = ", ".join(values)

    def check(value: Any, pointer: str, faults: list[Fault]) -> Any:
        if not isinstance(value, str):
            faults.append(_wrong_type(pointer, "a string"))
        elif value not in values:
            faults.append(Fault(pointer, "invalid_value", f"Must be one of {listing}."))
        return value

    return check


def _string(kind: shape.StrType, extra: dict[str, Any]) -> Check:
    least, most = kind.min_length or 0, kind.max_length
    pattern = re.compile(kind.pattern) if kind.pattern else None
    one_of, expected = extra.get("one_of"), extra.get("expected", "")
    # A rule that no pattern can say, such as a check digit: it returns the code of what is wrong.
    rule: Callable[[str], str | None] | None = extra.get("rule")
    lines = extra.get("lines", False)
    unfit = _UNFIT_IN_LINES if lines else _UNFIT
    other = " but tabs and ends of lines" if lines else ""

    def check(value: Any, pointer: str, faults: list[Fault]) -> Any:
        if not isinstance(value, str):
            faults.append(_wrong_type(pointer, "a string"))
        elif len(value) < least:
            faults.append(Fault(pointer, "too_short", f"Must have at least {least} characters."))
        elif most is not None and len(value) > most:
            faults.append(Fault(pointer, "too_long", f"Must have at most {most} characters."))
        elif unfit.search(value):
            detail = f"Must have no control characters{other} and no lone surrogates."
            faults.append(Fault(pointer, "invalid_characters", detail))
        elif pattern is not None and not pattern.fullmatch(value):
            faults.append(Fault(pointer, "invalid_format", f"Must be {expected}."))
        elif one_of is not None and value not in one_of:
            faults.append(Fault(pointer, "invalid_value", f"Must be {expected}."))
        elif rule is not None and (code := rule(value)):
            faults.append(Fault(pointer, code, f"Must be {expected}."))
        return value

    return check


def _list(kind: shape.ListType) -> Check:
    item, least, most = _compile(kind.item_type), kind.min_length or 0, kind.max_length

    def check(value: Any, pointer: str, faults: list[Fault]) -> Any:
        if not isinstance(value, list):
            faults.append(_wrong_type(pointer, "a list"))
            return value
        if len(value) < least:
            faults.append(Fault(pointer, "too_few", f"Must have at least {least} items."))
            return value
        if most is not None and len(value) > most:
            faults.append(Fault(pointer, "too_many", f"Must have at most {most} items."))
            return value
        return [item(one, f"{pointer}/{index}", faults) for index, one in enumerate(value)]

    return check


def _dict(kind: shape.DictType) -> Check:
    key, item, most = _compile(kind.key_type), _compile(kind.value_type), kind.max_length

    def check(value: Any, pointer: str, faults: list[Fault]) -> Any:
        if not isinstance(value, dict):
            faults.append(_wrong_type(pointer, "an object"))
            return value
        if most is not None and len(value) > most:
            faults.append(Fault(pointer, "too_many", f"Must have at most {most} names."))
            return value
        # The places are worked out only if something is wrong.
        found: list[Fault] = []
        cleaned = {key(name, "", found): item(one, "", found) for name, one in value.items()}
        if found:
            for name, one in value.items():
                place = point(pointer, name)
                key(name, place, faults)
                item(one, place, faults)
        return cleaned

    return check


def _struct(kind: shape.StructType) -> Check:
    checks = {field.encode_name: _compile(field.type) for field in kind.fields}
    places = {name: point("", name) for name in checks}
    required = [field.encode_name for field in kind.fields if field.required]

    def check(value: Any, pointer: str, faults: list[Fault]) -> Any:
        if not isinstance(value, dict):
            faults.append(_wrong_type(pointer, "an object"))
            return value
        # An explicit null means absent.
        given = {name: one for name, one in value.items() if one is not None}
        missing = [name for name in required if name not in given]
        faults += [Fault(pointer + places[name], "required", "Must be given.") for name in missing]
        # More are not told anyway, and each costs a search for the name that was meant.
        unknown = [name for name in value if name not in checks][:MOST_FAULTS]
        faults += [unknown_name(point(pointer, name), name, list(checks)) for name in unknown]
        return {
            name: checks[name](one, pointer + places[name], faults)
            for name, one in given.items()
            if name in checks
        }

    return check


_COMPILERS: Final[dict[type[shape.Type], Callable[[Any], Check]]] = {
    shape.StructType: _struct,
    shape.LiteralType: lambda kind: _literal([str(value) for value in kind.values]),
    shape.EnumType: lambda kind: _literal([str(member.value) for member in kind.cls]),
    shape.ListType: _list,
    shape.DictType: _dict,
    # A union is always "or null", and null means absent.
    shape.UnionType: lambda kind: _compile(
        next(one for one in kind.types if not isinstance(one, shape.NoneType))
    ),
    # Whoever takes anything checks it in `crossed`.
    shape.AnyType: lambda _: _instance(object, "anything"),
    shape.BoolType: lambda _: _instance(bool, "true or false"),
    shape.IntType: _integer,
    shape.DateTimeType: _moment,
}


def unknown_name(pointer: str, name: str, known: list[str]) -> Fault:
    """Refuse a name that nobody knows, with the nearest one that somebody does."""
    nearest = difflib.get_close_matches(name[:100], known, n=1)
    hint = f" Did you mean {nearest[0]}?" if nearest else f" Known here: {', '.join(known)}."
    return Fault(pointer, "unknown_field", f"There is no such field.{hint}")
