"""What pytest loads: two fixtures, and nothing heavy before a test asks for one of them."""

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from farthing.testing.sandbox import Sandbox, Server


@pytest.fixture(scope="session")
def farthing_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> "Iterator[Server]":
    """Give the server of this test run: one for all of its processes."""
    from farthing.testing.sandbox import open_server  # noqa: PLC0415 - costs nothing until now.
    from farthing.testing.sharing import ServerError  # noqa: PLC0415 - the same.

    base = tmp_path_factory.getbasetemp()
    # Each process of pytest-xdist has a folder of its own in that of the run.
    folder = base.parent if hasattr(request.config, "workerinput") else base
    with ExitStack() as stack:
        try:
            server = stack.enter_context(open_server(folder / "farthing"))
        except ServerError as error:
            # How we came here helps nobody; the sentence does.
            pytest.fail(str(error), pytrace=False)
        yield server


@pytest.fixture
def farthing(request: pytest.FixtureRequest, farthing_server: "Server") -> "Iterator[Sandbox]":
    """Give a sandbox that nobody else uses: a client, a clock, a rail, numbers and webhooks."""
    with farthing_server.open_sandbox(request.node.name) as sandbox:
        yield sandbox
