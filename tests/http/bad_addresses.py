"""Identifiers, queries and headers that do not fit."""

import uuid
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from msgspec import inspect as shape

from farthing.core import ids
from farthing.core.operation import Operation

MANY: Final = 10_000
UUID: Final = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
TOKEN: Final = "farthing_token_sandbox_"  # noqa: S105 - how every one begins

_ARABIC: Final = quote(UUID.translate({ord("1"): 0x661}))

# What stands in an address instead of a text, percent-encoded already.
JUNK: Final = {
    "a zero character": "%00",
    "a newline": "%0A",
    "a newline inside": "a%0Ab",
    "a carriage return and a newline": "%0D%0A",
    "a space": "%20",
    "a percent sign": "%25",
    "half a percent sign": "%",
    "a percent sign without digits": "%zz",
    "truncated UTF-8": "%C3",
    "no UTF-8": "%FF%FE",
    "an overlong slash": "%C0%AF",
    "a surrogate in UTF-8": "%ED%A0%80",
    "a text of another script": quote("مرحبا"),
    "very long": "a" * MANY,
    "very many slashes": "/" * MANY,
    "very many digits": "9" * MANY,
    "the folder above": "../..",
    "the folder above, encoded": "%2e%2e%2f%2e%2e",
    "a star": "*",
    "a fragment": "%23",
    "null": "null",
    "a quote": "%27%20OR%201=1--",
}
# What a text may be that is free; bytes that are no UTF-8 are read as a replacement character.
_READABLE: Final = JUNK.keys() - {
    *("a zero character", "a newline", "a newline inside", "a carriage return and a newline"),
    *("very long", "very many slashes", "very many digits"),
}

_TIMES: Final = (
    *("yesterday", "2026-01-31", "12:00:00Z", "1767225600", "2026-01-31T12:00:00"),
    *(
        "2026-02-30T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-31T24:00:01Z",
        "2026-01-31T12:60:00Z",
    ),
    *("0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "-001-01-01T00:00:00Z"),
    *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-01-31T12:00:00+24:00"),
    *(
        "2026-01-31T12:00:00Z\n",
        " 2026-01-31T12:00:00Z",
        "2026-01-31T12:00:00Z[UTC]",
        "٢٠٢٦-01-31T12:00:00Z",
    ),
)

# No credential, whatever it is.
BAD_TOKENS: Final[dict[str, bytes]] = {
    "nothing": b"",
    "very long": b"x" * 100_000,
    "long and almost one": TOKEN.encode() + b"A" * 100_000,
    "almost one": TOKEN.encode() + b"A" * 63,
    "nobody's": TOKEN.encode() + b"A" * 64,
    "of a kind that there is not": b"farthing_martian_sandbox_" + b"A" * 64,
    "of an environment that there is not": b"farthing_token_mars_" + b"A" * 64,
    "with padding": TOKEN.encode() + b"A" * 60 + b"====",
    "no Base64": TOKEN.encode() + b"*" * 64,
    "Latin-1": TOKEN.encode() + b"\xe9" * 64,
    "UTF-8": TOKEN.encode() + "é".encode() * 32,
    "control characters": b"\x00\x01\x7f\r\n",
    "as another scheme has it": b"Bearer " + TOKEN.encode() + b"A" * 64,
}

# What a key for idempotency must not be.
BAD_KEYS: Final[dict[str, bytes]] = {
    "nothing": b"",
    "one character too many": b"k" * 256,
    "very long": b"k" * 100_000,
    "Latin-1": b"caf\xe9",
    "UTF-8": "ключ".encode(),
    "a zero character": b"a\x00b",
    "a newline": b"a\nb",
    "a tabulator": b"a\tb",
    "a delete character": b"a\x7fb",
}

# What is no request id that could be kept; another is made instead.
BAD_REQUEST_IDS: Final[dict[str, bytes]] = {
    "nothing": b"",
    "short": b"short",
    "very long": b"r" * 100_000,
    "white space": b"request 12345678",
    "a newline": b"request-12345678\n",
    "a second header": b"request-12345678\r\nSet-Cookie: a=b",
    "Latin-1": b"request-caf\xe9-12345678",
    "digits of another script": "request-١٢٣٤٥٦٧٨".encode(),
    "HTML": b"<script>request</script>",
}

# What is no tenant.
BAD_TENANTS: Final[dict[str, bytes]] = {
    "nothing": b"",
    "only the uuid": UUID.encode(),
    "another noun": f"account/{UUID}".encode(),
    "a customer that there is not": f"customer/{UUID}".encode(),
    "a newline behind it": f"customer/{UUID}\n".encode(),
    "very long": b"customer/" + b"0" * 100_000,
    "Latin-1": b"customer/\xe9",
    "a zero character": b"\x00",
}


def bad_ids(of: str) -> dict[str, str]:
    """Return what stands in an address where the identifier of a noun should."""
    noun = ids.in_path(of)
    right = f"{noun}/{UUID}"
    made = {
        "nothing": "",
        "only the noun": noun,
        "only the noun and a slash": f"{noun}/",
        "only the uuid": UUID,
        "another noun": f"unheard_of/{UUID}",
        "the noun in capitals": f"{noun.upper()}/{UUID}",
        "the uuid in capitals": f"{noun}/{UUID.upper()}",
        "the uuid in braces": f"{noun}/%7B{UUID}%7D",
        "the uuid as a URN": f"{noun}/urn:uuid:{UUID}",
        "the uuid without dashes": f"{noun}/{UUID.replace('-', '')}",
        "a digit too few": right[:-1],
        "a digit too many": f"{right}0",
        "digits of another script": f"{noun}/{_ARABIC}",
        "two slashes": f"{noun}//{UUID}",
        "a backslash": f"{noun}%5C{UUID}",
        "a slash encoded twice": f"{noun}%252F{UUID}",
        "a slash behind it": f"{right}/",
        "a space before it": f"%20{right}",
        "a space behind it": f"{right}%20",
        "a newline behind it": f"{right}%0A",
        "a newline inside it": f"{noun}/%0A{UUID}",
        "a zero character behind it": f"{right}%00",
        "a byte order mark before it": f"%EF%BB%BF{right}",
        "twice": f"{right}/{right}",
    }
    if noun != of:
        made["as it is written everywhere else"] = ids.say(of, uuid.UUID(UUID))
    return {
        **made,
        **{f"{name} as the uuid": f"{noun}/{one}" for name, one in JUNK.items()},
        **JUNK,
    }


def bad_parameters(operation: Operation) -> Iterator[tuple[str, str, str]]:
    """Yield the name of a parameter, how it is wrong, and the query."""
    for one in _parameters(operation):
        kind = one.type
        while isinstance(kind, shape.Metadata | shape.UnionType):
            kind = kind.type if isinstance(kind, shape.Metadata) else kind.types[0]
        name = one.encode_name
        for what, text in {**JUNK, "nothing": "", **_misfits(kind)}.items():
            if not (_is_free(kind) and what in _READABLE):
                yield name, what, f"{name}={text}"
        yield name, "twice", f"{name}=x&{name}=x"
        yield f"{name}s", "unknown", f"{name}s=x"


def _parameters(operation: Operation) -> tuple[shape.Field, ...]:
    if operation.query is None:
        return ()
    info = shape.type_info(operation.query)
    assert isinstance(info, shape.StructType)
    return info.fields


def _is_free(kind: shape.Type) -> bool:
    return isinstance(kind, shape.StrType) and kind.pattern is None


def _misfits(kind: shape.Type) -> dict[str, str]:
    if isinstance(kind, shape.IntType):
        numbers = (
            "-1",
            "0",
            "101",
            "1.5",
            "1e1",
            "0x1",
            "+1",
            "%2B1",
            "1%20",
            "%201",
            "1_0",
            "NaN",
        )
        return {f"the number {one}": one for one in (*numbers, quote("٣"), quote("３"), "true")}  # noqa: RUF001 - they are meant to look alike
    if isinstance(kind, shape.DateTimeType):
        return {f"the time {one}": quote(one) for one in _TIMES}
    return {}
