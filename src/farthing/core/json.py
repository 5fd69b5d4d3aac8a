"""JSON as RFC 8259 has it, and nothing that is merely close to it."""

import json
from typing import Any, Final, NoReturn

from farthing.core.errors import MalformedJson

_ADVICE: Final = "Send one JSON text in UTF-8."


def read_json(body: bytes) -> Any:
    """Decode a body strictly: no NaN, no duplicate names, no byte order mark, no deep nesting."""
    try:
        text = body.decode()
        if text.startswith("\ufeff"):
            raise MalformedJson(f"The body begins with a byte order mark. {_ADVICE}")
        return _DECODER.decode(text)
    except UnicodeDecodeError:
        raise MalformedJson(f"The body is not UTF-8. {_ADVICE}") from None
    except RecursionError:
        raise MalformedJson(f"The body is nested too deeply. {_ADVICE}") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise MalformedJson(f"The body is not JSON: {error.msg} at {where}. {_ADVICE}") from None
    except ValueError:
        # A number with more digits than Python converts.
        raise MalformedJson(f"The body has a number beyond any range. {_ADVICE}") from None


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) != len(pairs):
        raise MalformedJson(f"The body has an object with the same name twice. {_ADVICE}")
    return names


def _refuse_constant(_: str) -> NoReturn:
    raise MalformedJson(f"The body has NaN or Infinity, which JSON does not know. {_ADVICE}")


# Python's own decoder, because it is the one that shows duplicate names.
_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique_names, parse_constant=_refuse_constant)
