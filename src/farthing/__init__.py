"""Farthing: an open payments core."""

__all__ = ["__version__"]

# The one place that says it: package, command line and API take it from here.
__version__ = "0.1.0"
