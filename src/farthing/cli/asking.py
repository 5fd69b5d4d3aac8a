"""From what was typed to what is asked: the object, the query and the body."""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from farthing.cli import numbers, options
from farthing.cli.connection import Reach
from farthing.cli.exits import Exit, Failure
from farthing.cli.nouns import listing, spoken
from farthing.cli.table import Command, Field
from farthing.client._asks import JSON, Ask, Operation, check_identifier
from farthing.client._model import Body

FORMATS: Final = {"csv": "text/csv", "xml": "application/xml"}


@dataclass(frozen=True)
class Typed:
    """What was typed: the object, the fields, and how to call and to show."""

    id: str | None = None
    fields: dict[Field, Any] = field(default_factory=dict, repr=False)
    files: dict[str, Path | None] = field(default_factory=dict)
    test_card: str | None = None
    body: Path | None = None
    key: str | None = None
    format: str | None = None
    as_json: bool = False
    rehearses: bool = False
    is_sure: bool = False
    every_page: bool = False
    reach: Reach = field(default_factory=Reach)


def ask_of(command: Command, operation: Operation, typed: Typed) -> Ask:
    """Return what a command asks of the service."""
    query = {one.place[0]: _value(command, one, value) for one, value in _said(typed, "query")}
    has_body = any(one.part == "body" for one in command.fields)
    body = _body(command, typed) if has_body else None
    accept = JSON if typed.format in {None, "json"} else FORMATS[str(typed.format)]
    if command.is_stream:
        accept = "text/event-stream"
    target = None if typed.id is None else identifier(command, typed.id)
    try:
        return Ask(operation, target, query, body, typed.key, accept)
    except ValueError as error:
        raise Failure(str(error), Exit.USAGE) from None


def _said(typed: Typed, part: str) -> list[tuple[Field, Any]]:
    return [(one, value) for one, value in typed.fields.items() if one.part == part]


def _body(command: Command, typed: Typed) -> Body:
    body = _read_body(typed.body)
    for one, value in _said(typed, "body"):
        _put(body, one.place, _value(command, one, value))
    if typed.test_card is not None:
        body = numbers.with_test_card(typed.test_card, body)
    missing = [one for one in command.fields if one.is_secret and one.place[-1] not in body]
    # Options for a file are looked at also if the body has the field: they are more explicit.
    named = [one for one in command.fields if typed.files.get(one.place[-1]) is not None]
    wanted = missing + [one for one in named if one not in missing]
    return Body({**body, **numbers.collect(wanted, typed.files)})


def _read_body(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        text = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return msgspec.json.decode(text, type=dict[str, Any])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        raise Failure(
            f"The body in {file} cannot be read. It must be one JSON object.", Exit.USAGE
        ) from None


def _put(body: dict[str, Any], place: tuple[str, ...], value: Any) -> None:
    for name in place[:-1]:
        inner = body.setdefault(name, {})
        if not isinstance(inner, dict):
            raise Failure(f"In the body, {name} is no object.", Exit.USAGE)
        body = inner
    body[place[-1]] = value


def _value(command: Command, one: Field, value: Any) -> Any:
    named = options.names(command).get(one, ("it",))[0]
    if one.kind == "map":
        pairs = [text.partition("=") for text in value]
        if not all(equals for _, equals, _ in pairs):
            raise Failure(f"Say {named} as NAME=VALUE, such as {named} plan=gold.", Exit.USAGE)
        return {name: said for name, _, said in pairs}
    if one.kind == "json":
        try:
            return msgspec.json.decode(value)
        except msgspec.MsgspecError:
            sentence = f"Say {named} as JSON, in quotation marks of the shell: {named} '...'."
            raise Failure(sentence, Exit.USAGE) from None
    return value


def identifier(command: Command, text: str) -> str:
    """Read an identifier as people paste it: with its noun, with that of a path, or without."""
    noun, word = command.noun, spoken(command.noun)
    bare = text.partition("/")[2] if "/" in text else text
    prefix = text.partition("/")[0] if "/" in text else noun
    try:
        check_identifier(noun, f"{noun if prefix == word else prefix}/{bare}")
    except ValueError:
        listed = listing(noun)
        where = f" `farthing {listed}` shows what there is." if listed else ""
        raise Failure(f"The identifier must be {word}/<uuid>.{where}", Exit.USAGE) from None
    return f"{noun}/{bare}"
