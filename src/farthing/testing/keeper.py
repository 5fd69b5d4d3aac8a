"""The process that keeps the server of a test run, for as long as anybody uses it.

Whoever uses the server holds a shared lock, which the kernel opens when that process is gone, also
after a crash. The keeper ends when it can have the lock for itself.
"""

import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from farthing.db.embedded.folder import Lock

HOME: Final = "home"
KEEPER: Final = "keeper.lock"
USERS: Final = "users.lock"


def keep(folder: Path, keeper: Lock) -> None:
    """Run a sandbox in a folder until nobody uses it, and leave nothing of it but its logs."""
    from farthing.cli.sandbox import HomeError  # noqa: PLC0415 - slow, and our parent waits for us.
    from farthing.cli.up import up  # noqa: PLC0415 - the same.

    home, users = folder / HOME, Lock(folder / USERS)
    try:
        up(home, 0, until=users.take)
    except HomeError as error:
        # Whoever finds the lock free reads why at once, so it must be written before.
        sys.stderr.write(f"farthing: {error}\n")
        sys.stderr.flush()
        sys.exit(1)
    finally:
        # Nobody need wait while many files are deleted, nor meet them.
        gone = folder / f"gone-{os.getpid()}"
        with suppress(OSError):
            (home / "postgres").rename(gone)
        keeper.release()
        users.release()
        shutil.rmtree(gone, ignore_errors=True)


def main(folder: Path) -> None:
    """Go on alone, as nobody's child: the one who started us may end before the others do."""
    keeper = Lock(folder / KEEPER)
    if not keeper.take():
        sys.exit(f"farthing: Another keeper runs in {folder}.")
    # The lock goes with the child, so that it is held exactly as long as the keeper lives.
    if os.fork():
        os._exit(0)
    os.setsid()
    keep(folder, keeper)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
