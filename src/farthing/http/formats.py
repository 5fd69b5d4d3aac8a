"""Formats: the form of an answer that the caller's Accept header prefers, by RFC 9110."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from starlette.types import Scope

from farthing.core.errors import NotAcceptable
from farthing.core.operation import Operation

JSON: Final = "application/json"

_QUALITY: Final = re.compile(r"0(\.[0-9]{0,3})?|1(\.0{0,3})?")


def choose(operation: Operation, scope: Scope) -> str:
    """Return the media type to answer with; JSON for whoever does not care."""
    if not operation.formats:
        return JSON
    # The one header that may come on several lines.
    sent = [value.decode("latin-1") for name, value in scope["headers"] if name == b"accept"]
    header = ",".join(sent)
    if not header.strip(" ,"):
        return JSON
    ranges = dict(_ranges(header))
    offered = (JSON, *operation.formats)
    # Of equals the first one wins, and that is JSON.
    best = max(offered, key=lambda one: _quality(one, ranges))
    if not _quality(best, ranges):
        raise NotAcceptable(f"This can be had as {', '.join(offered)}; Accept admits none of them.")
    return best


def _ranges(header: str) -> Iterator[tuple[str, float]]:
    """Yield each range of media types with its quality; what is no range will fit nothing."""
    for member in header.lower().split(","):
        media_range, *parameters = (part.strip() for part in member.split(";"))
        given = [one.removeprefix("q=") for one in parameters if one.startswith("q=")]
        quality = given[0] if given else "1"
        if _QUALITY.fullmatch(quality):
            yield media_range, float(quality)


def _quality(media_type: str, ranges: Mapping[str, float]) -> float:
    """Return the quality of the most exact range that a media type falls into."""
    fitting = (media_type, f"{media_type.partition('/')[0]}/*", "*/*")
    return next((ranges[one] for one in fitting if one in ranges), 0.0)
