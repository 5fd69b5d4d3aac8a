"""Who calls, and where: the key comes from a file, the environment, a home or a prompt."""

import os
import sys
from dataclasses import dataclass
from getpass import getpass
from pathlib import Path
from typing import Any, Final

from farthing.cli.exits import Exit, Failure
from farthing.cli.sandbox import DEFAULT_HOME, read_sandbox
from farthing.client import Farthing, Retries
from farthing.client._asks import Ask
from farthing.client._credentials import address

KEY: Final = "FARTHING_API_KEY"
# Somebody waits at the terminal.
_RETRIES: Final = Retries(attempts=3)
_SECONDS: Final = 30.0
_NO_KEY: Final = (
    "There is no key, and no sandbox in {home}. Start one with `farthing up`, or give a key: "
    f"in {KEY}, or in a file with --key-file."
)


@dataclass(frozen=True)
class Reach:
    """What the options of a command say of who calls."""

    key_file: Path | None = None
    home: Path | None = None
    customer: str | None = None
    tenant: str | None = None
    operator: bool = False
    timeout: float = _SECONDS
    may_prompt: bool = True


class Caller(Farthing):
    """The client, with the answers as they came."""

    def ask(self, ask: Ask) -> bytes:
        """Call an operation and return its answer, byte for byte."""
        return self._driver.run(self._driver.session.call(ask)).content

    @property
    def base_url(self) -> str:
        """Where the service is."""
        return self._driver.session.base_url

    @property
    def is_sandbox(self) -> bool:
        """Tell whether no money is moved."""
        return not self._driver.session.credential.is_live

    @property
    def tenant(self) -> str:
        """The tenant whose key this is."""
        return self._driver.session.credential.tenant


def connect(reach: Reach, **more: Any) -> Caller:
    """Return a client for whoever calls, or say where a key could come from."""
    key, base_url = find(reach)
    is_sandbox = is_of_sandbox(key)
    try:
        caller = Caller(
            key,
            sandbox=is_sandbox,
            base_url=address_of(base_url, is_sandbox=is_sandbox),
            tenant=reach.tenant,
            timeout=reach.timeout,
            **{"retries": _RETRIES, **more},
        )
    except ValueError as error:
        raise Failure(f"{error} Look at {KEY}, --key-file and --tenant.", Exit.USAGE) from None
    try:
        return caller.for_customer(reach.customer) if reach.customer else caller
    except ValueError as error:
        raise Failure(f"--as: {error} `farthing customers list` has them.", Exit.USAGE) from None


def address_of(base_url: str | None, *, is_sandbox: bool) -> str:
    """Return where the service is, or say where that can be said."""
    try:
        return address(base_url, sandbox=is_sandbox)
    except ValueError:
        name = "FARTHING_SANDBOX_URL" if is_sandbox else "FARTHING_LIVE_URL"
        sentence = f"Say where the service is in {name}, with https:// in front."
        raise Failure(sentence, Exit.USAGE) from None


def home_of(reach: Reach) -> Path:
    """Return the home of a local sandbox, and of what the command line remembers."""
    named = os.environ.get("FARTHING_HOME")
    return reach.home or (Path(named) if named else DEFAULT_HOME)


def find(reach: Reach) -> tuple[str, str | None]:
    """Return a key, and the address if it is known with it.

    What the command says goes before what the environment says, and both before what is found.
    """
    if reach.key_file is not None:
        return _read(reach.key_file), None
    key = os.environ.get(KEY)
    if key and reach.home is None:
        return key.strip(), None
    sandbox = read_sandbox(home_of(reach))
    if sandbox is not None:
        return sandbox.operator_key if reach.operator else sandbox.api_key, sandbox.base_url
    if reach.may_prompt and sys.stdin.isatty():
        return getpass("API key (it is not shown): ").strip(), None
    raise Failure(_NO_KEY.format(home=home_of(reach)), Exit.NO_ACCESS)


def is_of_sandbox(key: str) -> bool:
    """Tell of which environment a key says that it is."""
    return key.split("_")[2:3] != ["live"]


def _read(file: Path) -> str:
    try:
        return sys.stdin.read().strip() if str(file) == "-" else file.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise Failure(
            f"The key file {file} cannot be read. Name a file that holds a key and nothing else.",
            Exit.NO_ACCESS,
        ) from None
