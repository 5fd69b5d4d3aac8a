"""The arguments of a method: in its signature, in its docstring, and on the wire."""

import textwrap
import typing
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from msgspec import Struct, structs

from farthing.core.operation import Operation
from farthing.core.schemas import properties
from tools.client.speech import Speech

_WIDTH: Final = 92


@dataclass(frozen=True)
class Argument:
    """One argument of a method: its name here and on the wire, and its type."""

    name: str
    wire: str
    said: str
    words: str
    is_required: bool = False

    @property
    def signature(self) -> str:
        """Return it as it stands in the signature."""
        if self.is_required:
            return f"{self.name}: {self.said}"
        optional = self.said if self.said.endswith("| None") else f"{self.said} | None"
        return f"{self.name}: {optional} = None"


def arguments_of(speech: Speech, kind: type[Struct] | None) -> list[Argument]:
    """Return an argument for each field of a body or a query."""
    if kind is None:
        return []
    hints = typing.get_type_hints(kind, include_extras=True)
    words = {name: schema.get("description", "") for name, schema, _ in properties(kind)}
    return [
        Argument(
            one.name,
            one.encode_name,
            speech.say(hints[one.name], kind, is_argument=True),
            words[one.encode_name],
            one.required,
        )
        for one in structs.fields(kind)
    ]


def mapping_of(arguments: Iterable[Argument], **more: str) -> str:
    """Write the arguments as they are called on the wire."""
    pairs = [f'"{one.wire}": {one.name}' for one in arguments]
    pairs += [f'"{name}": {value}' for name, value in more.items()]
    return f"{{{', '.join(pairs)}}}"


def signature_of(operation: Operation, arguments: list[Argument]) -> str:
    """Write the arguments as a method takes them: what must be given comes first."""
    parts = ["self"]
    parts += ["id: str"] if "{id}" in operation.path else []
    ordered = sorted(arguments, key=lambda one: not one.is_required)
    parts += ["*", *(one.signature for one in ordered)] if ordered else []
    return ", ".join(parts)


def docstring_of(operation: Operation, arguments: list[Argument], summary: str) -> str:
    """Say what a method does, what its arguments mean, and what it can raise."""
    lines = [f"{summary}.", ""]
    for one in arguments:
        if one.words:
            lines += _wrap(f"`{one.name}`: {one.words}")
    if operation.raises:
        lines += ["", *_wrap(f"Raises {', '.join(one.__name__ for one in operation.raises)}.")]
    text = "\n".join(f"        {line}".rstrip() for line in lines).strip()
    quotes = '"""'
    raw = "r" if "\\" in text else ""
    end = "\n        " if "\n" in text else ""
    return f"        {raw}{quotes}{text}{end}{quotes}"


def _wrap(text: str) -> list[str]:
    found = textwrap.wrap(text, _WIDTH - 2, break_long_words=False, break_on_hyphens=False)
    return [f"- {found[0]}", *(f"  {line}" for line in found[1:])] if found[0][0] == "`" else found
