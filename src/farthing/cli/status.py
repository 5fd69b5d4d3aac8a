"""`farthing status`: whether the service, its database and its worker are there."""

import os
import sys
from dataclasses import replace
from typing import Final

import httpx2
import msgspec

from farthing.cli import shown
from farthing.cli.connection import Reach, address_of, find, is_of_sandbox
from farthing.cli.exits import Exit, Failure
from farthing.cli.failures import nobody_at

_SECONDS: Final = 10.0


def status(reach: Reach, *, as_json: bool) -> None:
    """Show the health of the service, part by part; it needs no key."""
    url, is_sandbox = _address(reach)
    try:
        answer = httpx2.get(f"{url}/v1/status", timeout=_SECONDS)
        found = msgspec.json.decode(answer.content)
        parts = found["components"]
    except httpx2.RequestError:
        raise nobody_at(url, is_sandbox=is_sandbox) from None
    except (msgspec.MsgspecError, KeyError, TypeError, UnicodeDecodeError):
        raise Failure(
            f"Something answers at {url}, and is no Farthing. Is the address right?",
            Exit.UNEXPECTED,
        ) from None
    if as_json:
        sys.stdout.write(answer.text.rstrip("\n") + "\n")
    else:
        table = shown.plain("part", "status", "detail")
        for name, part in parts.items():
            table.add_row(name, shown.word(part["status"]), part.get("detail", ""))
        out = shown.console(wraps=True)
        out.print(f"Farthing {found['version']}, {found['environment']}, at {url}")
        out.print(table)
    if found["status"] != "ok":
        raise Failure(
            f"The service is {found['status']}. Mend what is not ok above.", Exit.UNAVAILABLE
        )


def _address(reach: Reach) -> tuple[str, bool]:
    """Return where the service is, and whether it is a sandbox, by the key if there is one."""
    base_url, is_sandbox = None, "FARTHING_SANDBOX_URL" in os.environ
    try:
        key, base_url = find(replace(reach, may_prompt=False))
        is_sandbox = is_of_sandbox(key)
    except Failure as failure:
        if failure.exit != Exit.NO_ACCESS:
            raise
        is_sandbox |= "FARTHING_LIVE_URL" not in os.environ
    return address_of(base_url, is_sandbox=is_sandbox), is_sandbox
