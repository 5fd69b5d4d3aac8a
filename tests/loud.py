"""What a test needs and a machine may lack: skipped aloud at home, and a failure in CI."""

import os
from typing import NoReturn

import pytest


def cannot_run(reason: str) -> NoReturn:
    """Skip a test that cannot run here; where everything must run, fail it."""
    if os.environ.get("CI"):
        pytest.fail(f"IN CI EVERYTHING RUNS: {reason}")
    pytest.skip(reason)
