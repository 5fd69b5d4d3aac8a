"""What the guides tell readers to send, as data."""

import json
import re
import shlex
from pathlib import Path
from typing import Any, Final, NamedTuple

FOLDER: Final = Path(__file__).parents[1] / "docs" / "guides"

_BLOCK: Final = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_VARIABLE: Final = re.compile(r"\$([A-Z]+)")


class Sent(NamedTuple):
    """One request of a guide."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


def commands(guide: str) -> list[str]:
    """Return the curl commands of a guide, in their order."""
    blocks = _BLOCK.findall((FOLDER / guide).read_text("utf-8"))
    found = [re.split(r"^(?=curl )", block, flags=re.MULTILINE) for block in blocks]
    return [one for block in found for one in block if one.startswith("curl ")]


def read(command: str, values: dict[str, str]) -> Sent:
    """Read a command as a shell would; each variable that it names must have a value."""
    _, _, address, *words = [
        _VARIABLE.sub(lambda name: values[name[1]], word) for word in shlex.split(command)
    ]
    options = list(zip(words[::2], words[1::2], strict=True))
    headers = dict(one.split(": ", 1) for option, one in options if option == "-H")
    bodies = [json.loads(one) for option, one in options if option == "-d"]
    body = bodies[0] if bodies else None
    return Sent("POST" if bodies else "GET", address.removeprefix(values["API"]), headers, body)
