"""The test kit: a fixture `farthing` for pytest, with a sandbox of its own for every test.

`farthing.testing.plugin` is what pytest loads. The names here are for annotations, and are imported
when they are first used, so that a test run without the fixture pays nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from farthing.testing.sandbox import Clock, Rail, Sandbox
    from farthing.testing.webhooks import Delivery, Inbox

__all__ = ["Clock", "Delivery", "Inbox", "Rail", "Sandbox"]

_HOMES: Final = {
    "Clock": "sandbox",
    "Delivery": "webhooks",
    "Inbox": "webhooks",
    "Rail": "sandbox",
    "Sandbox": "sandbox",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
