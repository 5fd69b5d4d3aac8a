"""What is asked: an operation, and what one call of it says."""

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

import msgspec

from farthing.client._model import Body

_UUID: Final = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
JSON: Final = "application/json"
EVENT_STREAM: Final = "text/event-stream"


@dataclass(frozen=True)
class Operation:
    """What the client knows of an operation of the service."""

    method: str
    path: str
    # Of the identifier in the path: the noun as objects say it, and as the path says it.
    noun: str = ""
    path_noun: str = ""
    # It takes the API key, no credential at all, or is done in no tenant.
    takes_key: bool = False
    is_open: bool = False
    is_of_house: bool = False

    @property
    def writes(self) -> bool:
        """Tell whether a call changes something."""
        return self.method != "GET"


@dataclass(frozen=True)
class Ask:
    """One call of an operation; all its attempts say the same, under the same key."""

    operation: Operation
    id: str | None = None
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Body | None = None
    key: str | None = None
    accept: str = JSON
    last_event_id: str | None = None

    def __post_init__(self) -> None:
        if self.operation.writes and self.key is None:
            object.__setattr__(self, "key", str(uuid.uuid4()))
        for text in (self.key, self.last_event_id):
            if text is not None and not _fits_header(text):
                raise ValueError(
                    "An idempotency key or event id must be printable ASCII, with no space around."
                )

    @property
    def target(self) -> str:
        """The path and the query."""
        path = self.operation.path
        if "{id}" in path:
            path = path.replace("{id}", self._identifier(self.id or ""))
        query = dict(_pairs(self.query))
        return f"{path}?{urlencode(query)}" if query else path

    def headers(self, credential: str | None, tenant: str | None) -> dict[str, str]:
        """Return the headers, with this credential."""
        named = {
            "Accept": self.accept,
            "Content-Type": None if self.body is None else JSON,
            "Idempotency-Key": self.key,
            "Last-Event-ID": self.last_event_id,
            "X-Tenant": None if self.operation.is_of_house else tenant,
            "X-Token": credential,
        }
        return {name: value for name, value in named.items() if value is not None}

    def content(self) -> bytes | None:
        """Write the body; what was left out is left out."""
        if self.body is None:
            return None
        given = Body((name, value) for name, value in self.body.items() if value is not None)
        return msgspec.json.encode(given, enc_hook=_plain)

    def _identifier(self, text: str) -> str:
        """Say an identifier as the path says it."""
        noun, path_noun = self.operation.noun, self.operation.path_noun
        prefix, slash, rest = text.partition("/")
        check_identifier(noun, f"{noun if prefix == path_noun else prefix}{slash}{rest}")
        return f"{path_noun}/{rest}"


def check_identifier(noun: str, text: str) -> None:
    """Refuse what is no identifier: what somebody typed must not lead to another address."""
    prefix, _, rest = text.partition("/")
    if prefix != noun or not _UUID.fullmatch(rest):
        raise ValueError(f"The identifier must be {noun}/<uuid>.")


def _fits_header(text: str) -> bool:
    return text.isascii() and text.isprintable() and text == text.strip()


def _plain(value: object) -> object:
    """Write as JSON whatever is a mapping or a sequence."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")


def _pairs(query: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in query.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{key}", one) for key, one in value.items())
        elif isinstance(value, bool):
            yield name, str(value).lower()
        elif isinstance(value, datetime):
            yield name, value.isoformat()
        elif value is not None:
            yield name, value
