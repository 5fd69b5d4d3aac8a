"""Writes one exception class for each error of the service."""

import inspect
from typing import Final

from farthing.core.errors import CATALOGUE

_HEAD: Final = '''"""Exceptions: one class for each code with which the service says no.

Each has the `problem` as the service told it, and nothing of the request.
"""

from farthing.client._failures import (
    ApiError,
    ConnectionFailed,
    FarthingError,
    FieldError,
    InvalidSignature,
    Problem,
    UnexpectedAnswer,
)
'''
_BASES: Final = (
    *("ApiError", "ConnectionFailed", "FarthingError", "FieldError"),
    *("InvalidSignature", "Problem", "UnexpectedAnswer"),
)


def write_errors() -> str:
    """Write the classes in the order of the catalogue."""
    names = sorted((*_BASES, *(one.__name__ for one in CATALOGUE.values())))
    listed = ", ".join(repr(one) for one in names)
    classes = [
        f"class {one.__name__}(ApiError, code={code!r}):\n"
        f'    """{inspect.cleandoc(one.__doc__ or "")}"""\n'
        for code, one in CATALOGUE.items()
    ]
    return f"{_HEAD}\n__all__ = [{listed}]\n\n\n" + "\n\n".join(classes)
