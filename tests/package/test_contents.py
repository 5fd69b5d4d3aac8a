"""What is in the package: all of the source, and nothing else."""

import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.metadata import Metadata
from packaging.requirements import Requirement
from tests.installed import ROOT

from farthing import __version__

pytestmark = pytest.mark.slow

SOURCE = {
    path.relative_to(ROOT / "src").as_posix()
    for path in (ROOT / "src" / "farthing").rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
}
INFO = f"farthing-{__version__}.dist-info"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_wheel_holds_the_source_with_its_data_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
    assert {name for name in names if not name.startswith(INFO)} == SOURCE
    about = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
    assert {name for name in names if name.startswith(INFO)} == {f"{INFO}/{one}" for one in about}


def test_the_source_has_what_is_read_at_run_time() -> None:
    assert {"farthing/py.typed", "farthing/db/schema.sql"} <= SOURCE
    assert "farthing/http/openapi/examples.json" in SOURCE
    migrations = {name for name in SOURCE if name.startswith("farthing/db/migrations/")}
    assert {name for name in migrations if name.endswith(".sql")}
    for name in SOURCE:
        assert not {"tests", "bench", "tools", "conftest.py"} & set(Path(name).parts), name


def test_the_source_distribution_holds_what_a_wheel_is_made_of(dist: Path) -> None:
    with tarfile.open(dist / f"farthing-{__version__}.tar.gz") as opened:
        names = {one.name.partition("/")[2] for one in opened.getmembers() if one.isfile()}
    about = {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "PKG-INFO", ".gitignore"}
    assert names == {f"src/{name}" for name in SOURCE} | about


def test_the_metadata_is_valid_and_says_what_the_project_says(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        said = Metadata.from_email(opened.read(f"{INFO}/METADATA"), validate=True)
        licence = opened.read(f"{INFO}/licenses/LICENSE").decode()
    assert (said.name, str(said.version), said.summary) == (
        "farthing",
        __version__,
        PROJECT["description"],
    )
    assert said.license_expression == "Apache-2.0"
    assert licence == (ROOT / "LICENSE").read_text("utf-8")
    assert str(said.requires_python) == PROJECT["requires-python"]
    assert set(said.requires_dist or ()) == {Requirement(one) for one in PROJECT["dependencies"]}
    assert said.description == (ROOT / "README.md").read_text("utf-8")
    assert "Typing :: Typed" in (said.classifiers or ())
