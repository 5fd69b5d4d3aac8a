"""The package as `python -m build` gives it."""

from pathlib import Path

import pytest
from tests.installed import built, wheel_in


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder with the wheel and the source distribution."""
    return built(tmp_path_factory)


@pytest.fixture(scope="session")
def wheel(dist: Path) -> Path:
    return wheel_in(dist)
