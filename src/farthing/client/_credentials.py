"""What a key says of itself, and which address it is for."""

import base64
import os
import re
from dataclasses import dataclass, field
from typing import Final, Literal
from uuid import UUID

import httpx2

Kind = Literal["key", "operator", "token"]

_FORM: Final = re.compile(r"farthing_(key|operator|token)_(sandbox|live)_([A-Za-z0-9_-]{64})")
# Where `farthing up` listens; a live service has no address that could be guessed.
_USUAL_SANDBOX: Final = "http://127.0.0.1:4960"


@dataclass(frozen=True)
class Credential:
    """A key or a token; its repr does not show it."""

    kind: Kind
    is_live: bool
    tenant: str
    text: str = field(repr=False)


def read(text: str, *, sandbox: bool) -> Credential:
    """Read a key, and refuse one of the other environment; the message never repeats it."""
    # What a missing variable of the environment gives is no key either.
    found = _FORM.fullmatch(text or "")
    if found is None:
        raise ValueError("This is no key of Farthing: it must be farthing_<kind>_<environment>_...")
    kind, environment, body = found.groups()
    is_live = environment == "live"
    if is_live == sandbox:
        raise ValueError(
            f"This is a key of {environment}, and the client was made with sandbox={sandbox}. "
            "Nothing was sent."
        )
    tenant = UUID(bytes=base64.urlsafe_b64decode(body)[:16])
    return Credential(kind, is_live, f"customer/{tenant}", text)  # type: ignore[arg-type]  # the form has no other


def address(base_url: str | None, *, sandbox: bool) -> str:
    """Return the base address: as it was given, or as the environment names it."""
    name = "FARTHING_SANDBOX_URL" if sandbox else "FARTHING_LIVE_URL"
    found = base_url or os.environ.get(name) or (_USUAL_SANDBOX if sandbox else "")
    if not _is_address(found):
        raise ValueError(f"Say where the service is: base_url=, or {name}, with https:// in front.")
    return found.rstrip("/")


def _is_address(text: str) -> bool:
    try:
        url = httpx2.URL(text)
    except httpx2.InvalidURL:
        return False
    return url.scheme in {"http", "https"} and url.host != ""
