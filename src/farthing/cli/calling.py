"""One call of an operation: from what was typed to what is shown."""

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import msgspec
import typer

from farthing.cli import numbers, shown
from farthing.cli.connection import Caller, Reach, connect
from farthing.cli.exits import Exit, Failure
from farthing.cli.failures import told
from farthing.cli.table import Command, Field, commands
from farthing.client import _operations
from farthing.client._asks import JSON, Ask, Operation
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
    reach: Reach = field(default_factory=Reach)


def call(command: Command, typed: Typed) -> None:
    """Call the operation and show what it answers; a failure says what to do next."""
    operation: Operation = getattr(_operations, command.constant)
    with _caller(operation, typed.reach) as caller:
        if typed.test_card is not None and not caller.is_sandbox:
            raise Failure("--test-card is for the sandbox, and this is a live key.", Exit.USAGE)
        ask = _ask(command, operation, typed)
        with told(command, caller, as_json=typed.as_json):
            if typed.rehearses:
                _rehearse(caller, command, ask, typed)
                return
            if command.is_stream:
                _follow(caller, ask, as_json=typed.as_json)
                return
            answer = caller.ask(ask)
        present(answer, as_json=typed.as_json or ask.accept != JSON)


def present(answer: bytes, *, as_json: bool) -> None:
    """Show an answer: exactly as it came for machines, or for people."""
    if as_json:
        sys.stdout.write(answer.decode().rstrip("\n") + "\n")
    else:
        shown.show(msgspec.json.decode(answer))


def identifier(noun: str, text: str) -> str:
    """Read an identifier as people paste it: with its noun, with that of a path, or without."""
    return text if "/" in text or not noun else f"{noun}/{text}"


def _caller(operation: Operation, reach: Reach) -> Caller:
    if operation.is_of_house:
        reach = replace(reach, operator=True)
    return connect(reach)


def _ask(command: Command, operation: Operation, typed: Typed) -> Ask:
    query = {one.place[0]: _value(one, value) for one, value in _said(typed, "query")}
    has_body = any(one.part == "body" for one in command.fields)
    body = _body(command, typed) if has_body else None
    accept = JSON if typed.format in {None, "json"} else FORMATS[str(typed.format)]
    if command.is_stream:
        accept = "text/event-stream"
    target = None if typed.id is None else identifier(command.noun, typed.id)
    try:
        return Ask(operation, target, query, body, typed.key, accept)
    except ValueError as error:
        raise Failure(str(error), Exit.USAGE) from None


def _said(typed: Typed, part: str) -> list[tuple[Field, Any]]:
    return [(one, value) for one, value in typed.fields.items() if one.part == part]


def _body(command: Command, typed: Typed) -> Body:
    body = _read_body(typed.body)
    for one, value in _said(typed, "body"):
        _put(body, one.place, _value(one, value))
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


def _value(one: Field, value: Any) -> Any:
    if one.kind == "map":
        pairs = [text.partition("=") for text in value]
        if not all(equals for _, equals, _ in pairs):
            raise typer.BadParameter(f"Say {one.place[-1]} as NAME=VALUE.")
        return {name: said for name, _, said in pairs}
    if one.kind == "json":
        try:
            return msgspec.json.decode(value)
        except msgspec.MsgspecError:
            raise typer.BadParameter(f"Say {one.place[-1]} as JSON.") from None
    return value


def _follow(caller: Caller, ask: Ask, *, as_json: bool) -> None:
    from farthing.cli.listen import show_event  # noqa: PLC0415 - of this operation alone

    with caller.events.stream(**ask.query) as stream:
        for event in stream:
            show_event(event, as_json=as_json)


def _rehearse(caller: Caller, command: Command, ask: Ask, typed: Typed) -> None:
    """Tell whether a move is possible where the service has no rehearsal of its own for it."""
    reading = commands()[command.id.replace(".move", ".transitions")]
    answer = caller.ask(Ask(getattr(_operations, reading.constant), ask.id))
    if typed.as_json:
        present(answer, as_json=True)
        return
    found = msgspec.json.decode(answer)
    target = None if ask.body is None else ask.body.get("toStateId")
    why = {one["toStateId"]: one["why"] for one in found["possible"]}
    if target not in why:
        possible = ", ".join(why) or "nowhere"
        raise Failure(
            f"It is {found['stateId']} and cannot go to {target}. From here it can go to: "
            f"{possible}. Nothing was changed.",
            Exit.CONFLICT,
        )
    typer.echo(f"{found['stateId']} -> {target}: {why[target]} Nothing was changed.")
