"""Addresses of the API: found by look-up, because a request is tried against none but its own."""

from collections.abc import Mapping
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

_ID: Final = "/{id}"


class Addresses:
    """Finds the endpoint of a path; whatever is not of the API goes to the others.

    The address of an object is its collection, its identifier and an ending, which may be empty. An
    identifier has a slash of its own, plain or percent-encoded, so it takes any text between the
    two. Of collections and endings the longest that fits is meant.
    """

    def __init__(self, endpoints: Mapping[str, ASGIApp], others: ASGIApp) -> None:
        self._exact = {path: app for path, app in endpoints.items() if _ID not in path}
        self._of_object: dict[str, dict[str, ASGIApp]] = {}
        for path, app in endpoints.items():
            if _ID in path:
                collection, _, ending = path.partition(_ID)
                self._of_object.setdefault(collection, {})[ending] = app
        self._collection_sizes = _sizes(self._of_object)
        self._ending_sizes = {name: _sizes(found) for name, found in self._of_object.items()}
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        app = self._others
        if scope["type"] == "http":
            scope["path_params"] = {}
            app = self._find(scope)
        await app(scope, receive, send)

    def _find(self, scope: Scope) -> ASGIApp:
        path = scope["path"]
        if path in self._exact:
            return self._exact[path]
        # The text before the first slash is empty, and no word.
        words = path.split("/")
        for size in self._collection_sizes:
            collection = "/".join(words[: size + 1])
            if collection in self._of_object and len(words) > size + 1:
                return self._of(collection, words[size + 1 :], scope)
        return self._others

    def _of(self, collection: str, rest: list[str], scope: Scope) -> ASGIApp:
        """Find the longest ending that leaves an identifier before it."""
        endings = self._of_object[collection]
        for size in self._ending_sizes[collection]:
            named = len(rest) - size
            app = endings.get("".join(f"/{word}" for word in rest[named:])) if named > 0 else None
            if app is not None:
                scope["path_params"] = {"id": "/".join(rest[:named])}
                return app
        return self._others


def _sizes(paths: Mapping[str, object]) -> list[int]:
    """Return how many words these have, the most first."""
    return sorted({path.count("/") for path in paths}, reverse=True)
