"""Examples as one would type them: a curl command, and JSON with its colours."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from farthing.http.docs.html import Html, element, join

_TOKENS: Final = re.compile(
    r'(?P<name>"(?:[^"\\]|\\.)*")(?=\s*:)|(?P<text>"(?:[^"\\]|\\.)*")'
    r"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<word>true|false|null)"
)


def curl(method: str, path: str, operation: Mapping[str, Any]) -> str:
    """Write the command that sends the example of an operation."""
    options = [] if method == "GET" else [f"-X {method}"]
    if operation["security"]:
        options.append('-H "X-Token: $TOKEN"')
    if any(one.get("name") == "Idempotency-Key" for one in operation["parameters"]):
        options.append('-H "Idempotency-Key: $(date +%s)-$RANDOM"')
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None:
        # A quoted here-document needs no escaping, whatever the body holds.
        options += ['-H "Content-Type: application/json"', "--data @- <<'JSON'"]
    command = " \\\n  ".join([f'curl "$BASE{_address(path, operation)}"', *options])
    return command if body is None else f"{command}\n{pretty(body.get('example', {}))}\nJSON"


def _address(path: str, operation: Mapping[str, Any]) -> str:
    given = [one for one in operation["parameters"] if "example" in one]
    for one in given:
        if one["in"] == "path":
            path = path.replace("{" + one["name"] + "}", one["example"])
    query = urlencode({one["name"]: one["example"] for one in given if one["in"] == "query"})
    return f"{path}?{query}" if query else path


def pretty(value: object) -> str:
    """Write JSON for people."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def coloured(text: str) -> Html:
    """Mark up the JSON in a text, and escape all of it."""
    pieces: list[str] = []
    end = 0
    for found in _TOKENS.finditer(text):
        pieces += [text[end : found.start()]]
        pieces += [element("span", found[0], class_=f"json-{found.lastgroup}")]
        end = found.end()
    return join([*pieces, text[end:]])
