"""`python -m tools.client` writes the generated part of the client; `--check` compares it."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from farthing.catalog import OPERATIONS
from farthing.core.operation import Operation
from farthing.http import system
from tools.client.models import write_models
from tools.client.namespaces import write_namespaces
from tools.client.places import ASYNC, SYNC, write_operations
from tools.client.problems import write_errors
from tools.client.speech import Speech

if TYPE_CHECKING:
    from farthing.http.service import Service

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "src" / "farthing" / "client"
# Everything in these folders is written here.
GENERATED: Final = ("models", "_sync", "_async")
_MARK: Final = "# Written by `make client` from the operations of the service: do not edit.\n"


def operations() -> tuple[Operation, ...]:
    """Return everything that the service does."""
    return (*OPERATIONS, *system.operations(cast("Service", None)))


def texts() -> dict[str, str]:
    """Write every file, by its place in the client."""
    speech, every = Speech(), operations()
    # Both speak of the same models, and the first to write must know them all.
    for flavour in (SYNC, ASYNC):
        write_namespaces(speech, every, flavour)
    models = write_models(speech, every)
    files = {"errors.py": write_errors(), "_operations.py": write_operations(every), **models}
    for flavour in (SYNC, ASYNC):
        files |= write_namespaces(speech, every, flavour)
    return _tidy({name: _MARK + text for name, text in files.items()})


def _tidy(files: dict[str, str]) -> dict[str, str]:
    """Drop the imports that a file does not need, and format it."""
    ruff, config = str(Path(sys.executable).with_name("ruff")), str(ROOT / "pyproject.toml")
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "src" / "farthing" / "client"
        for name, text in files.items():
            (base / name).parent.mkdir(parents=True, exist_ok=True)
            (base / name).write_text(text, "utf-8")
        ours = ["--config", 'lint.isort.known-first-party = ["farthing"]']
        # What is left of a long import fits on a line again.
        ours += ["--config", "lint.isort.split-on-trailing-comma = false"]
        fix = ["check", "--fix-only", "--select", "F401,I", *ours]
        for arguments in (fix, ["format"]):
            command = [ruff, *arguments, "--no-cache", "--quiet", "--config", config, str(base)]
            subprocess.run(command, check=True, cwd=folder)  # noqa: S603 - our own tool
        return {name: (base / name).read_text("utf-8") for name in files}


def present() -> dict[str, str]:
    """Read the generated files that there are."""
    found = [path for folder in GENERATED for path in (FOLDER / folder).glob("*.py")]
    found += [path for name in ("errors.py", "_operations.py") if (path := FOLDER / name).exists()]
    return {str(path.relative_to(FOLDER)): path.read_text("utf-8") for path in found}


def main(arguments: list[str]) -> None:
    """Write the files, or only compare them."""
    made, there = texts(), present()
    stale = sorted(name for name in {*made, *there} if made.get(name) != there.get(name))
    if "--check" in arguments:
        if stale:
            sys.exit(f"Stale in {FOLDER.name}: {', '.join(stale)}. Run `make client`.")
        return
    for name in stale:
        path = FOLDER / name
        if name not in made:
            path.unlink()
            continue
        path.parent.mkdir(exist_ok=True)
        path.write_text(made[name], "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
