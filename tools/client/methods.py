"""Writes the methods of both clients: one text, with and without `await`."""

import typing
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from farthing.core.operation import Operation
from farthing.core.wire import ListQuery
from tools.client.arguments import Argument, arguments_of, docstring_of, mapping_of, signature_of
from tools.client.places import Flavour, constant_of, namespace_of
from tools.client.speech import Speech

_LIMIT: Final = Argument(
    "limit", "", "int", "How many results at the most, over all pages; all of them by default."
)
_KEY: Final = Argument(
    "idempotency_key", "", "str", "What is sent twice under one key is done once; drawn by default."
)
_LAST_EVENT_ID: Final = Argument(
    "last_event_id", "", "str", "Where another stream ended, to go on from there."
)
_ANNOTATIONS: Final = Argument(
    "annotations", "", "Mapping[str, str]", "Only objects with these annotations."
)


def methods_of(speech: Speech, operation: Operation, flavour: Flavour) -> Iterator[str]:
    """Write the method of an operation, and those for its other answers."""
    name = namespace_of(operation)[-1]
    if operation.stream is not None:
        yield _stream(speech, operation, name, flavour)
    elif operation.query is not None and _is_paged(operation.query):
        yield _listing(speech, operation, name, flavour)
    else:
        answer = speech.model(_require(operation.answer))
        yield _method(speech, operation, name, answer, flavour)
    for choice in _choices(operation):
        other = speech.model(_require(operation.other_answer))
        yield _method(speech, operation, f"{name}_{choice}", other, flavour, choice)
    if operation.formats:
        yield _method(speech, operation, f"{name}_as", "bytes", flavour)


def _require(kind: type[Struct] | None) -> type[Struct]:
    if kind is None:
        raise TypeError("an operation answers something")
    return kind


def _is_paged(query: type[Struct]) -> bool:
    return "cursor" in query.__struct_fields__


def _choices(operation: Operation) -> list[str]:
    """Return the fields of the query that ask for the other answer."""
    if operation.other_answer is None or operation.query is None:
        return []
    hints = typing.get_type_hints(operation.query)
    return [name for name, hint in hints.items() if hint is bool]


def _method(
    speech: Speech,
    operation: Operation,
    name: str,
    answer: str,
    flavour: Flavour,
    choice: str | None = None,
) -> str:
    body = arguments_of(speech, operation.body)
    every = arguments_of(speech, operation.query)
    query = [one for one in every if one.name not in _choices(operation)]
    chosen = {one.wire: "True" for one in every if one.name == choice}
    more: list[Argument] = []
    said = [f"operations.{constant_of(operation)}"]
    said += ["id"] if "{id}" in operation.path else []
    said += [f"query={mapping_of(query, **chosen)}"] if query or chosen else []
    said += [f"body=Body({mapping_of(body)})"] if operation.body is not None else []
    if answer == "bytes":
        forms = ", ".join(repr(one) for one in operation.formats)
        more.append(
            Argument("media_type", "", f"Literal[{forms}]", "In which form.", is_required=True)
        )
        said.append("accept=media_type")
    if operation.writes:
        more.append(_KEY)
        said.append("key=idempotency_key")
    ask = f"Ask({', '.join(said)})"
    result = f"return {flavour.wait}self._send(ask, {answer})"
    arguments = [*body, *query, *more]
    signature = signature_of(operation, arguments)
    summary = operation.summary
    summary += ", as a file" if answer == "bytes" else ""
    summary += f", as a {choice.replace('_', ' ')}: nothing is changed" if choice else ""
    return (
        f"    {flavour.define} {name}({signature}) -> {answer}:\n"
        f"{docstring_of(operation, arguments, summary)}\n"
        f"        ask = {ask}\n{_forget(operation, body)}        {result}\n"
    )


def _forget(operation: Operation, body: list[Argument]) -> str:
    """Let a method forget what the service hides and never returns: tracebacks can show locals."""
    if operation.body is None or "__repr__" not in vars(operation.body):
        return ""
    returned = _require(operation.answer).__struct_fields__
    return f"        del {', '.join(one.name for one in body if one.name not in returned)}\n"


def _listing(speech: Speech, operation: Operation, name: str, flavour: Flavour) -> str:
    page = _require(operation.answer)
    [item] = typing.get_args(typing.get_type_hints(page)["results"])
    query = [one for one in arguments_of(speech, operation.query) if one.name != "limit"]
    more = [_LIMIT]
    filters = {}
    if operation.query is not None and issubclass(operation.query, ListQuery):
        more.append(_ANNOTATIONS)
        filters = {"annotation": "annotations"}
    arguments = [*more, *query]
    said = [f"operations.{constant_of(operation)}"]
    said += ["id"] if "{id}" in operation.path else []
    said.append(f"query={mapping_of(query, **filters)}")
    names = f"{speech.model(item)}, {speech.model(page)}"
    return (
        f"    def {name}({signature_of(operation, arguments)}) -> "
        f"{flavour.prefix}Listing[{names}]:\n"
        f"{docstring_of(operation, arguments, operation.summary)}\n"
        f"        ask = Ask({', '.join(said)})\n"
        f"        return self._list(ask, {speech.model(page)}, limit)\n"
    )


def _stream(speech: Speech, operation: Operation, name: str, flavour: Flavour) -> str:
    query = arguments_of(speech, operation.query)
    arguments = [*query, _LAST_EVENT_ID]
    said = f"operations.{constant_of(operation)}, query={mapping_of(query)}"
    said += ', accept="text/event-stream", last_event_id=last_event_id'
    return (
        f"    def {name}({signature_of(operation, arguments)}) -> {flavour.prefix}EventStream:\n"
        f"{docstring_of(operation, arguments, operation.summary)}\n"
        f"        return self._follow(Ask({said}))\n"
    )
