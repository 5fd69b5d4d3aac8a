"""The fixtures of the test kit, also where the package is not installed as a plugin."""

from farthing.testing.plugin import farthing, farthing_server

__all__ = ["farthing", "farthing_server"]
