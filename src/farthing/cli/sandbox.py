"""The file by which `farthing up` tells other programs where its sandbox is."""

from pathlib import Path
from typing import Final

import msgspec
import platformdirs
from msgspec import Struct

from farthing.cli.exits import Failure

DEFAULT_HOME: Final = platformdirs.user_data_path("farthing")
NAME: Final = "sandbox.json"


class HomeError(Failure):
    """The home of a sandbox is not as it must be; the sentence says what to do."""


class Sandbox(Struct, frozen=True, rename="camel"):
    """Where the sandbox answers, and with which keys; `sandbox.json` for other programs."""

    base_url: str
    api_key: str
    operator_key: str
    tenant_id: str

    def __repr__(self) -> str:
        # It holds keys, and tracebacks can show this.
        return f"<the sandbox at {self.base_url}>"


def read_sandbox(folder: Path) -> Sandbox | None:
    """Return what was written when the sandbox was last ready; None before the first time."""
    file = folder / NAME
    try:
        return msgspec.json.decode(file.read_bytes(), type=Sandbox)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        raise damage(file) from None


def damage(file: Path) -> HomeError:
    """Say that a file is not as it was written."""
    return HomeError(
        f"The file {file} is missing or damaged. Restore it from a backup, or move "
        f"{file.parent} away to begin with an empty sandbox."
    )
