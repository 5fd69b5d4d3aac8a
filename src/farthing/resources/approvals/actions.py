from typing import Any


def ask(*_: Any, **__: Any) -> None:
    raise NotImplementedError
