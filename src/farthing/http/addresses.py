"""Addresses of the API: found by look-up, because a request is tried against none but its own."""

from collections.abc import Mapping
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

_ID: Final = "/{id}"


class Addresses:
    """Finds the endpoint of a path; whatever is not of the API goes to the others.

    An identifier has a slash of its own, plain or percent-encoded, so between the collection and
    the last word of a longer address it takes any text.
    """

    def __init__(self, endpoints: Mapping[str, ASGIApp], others: ASGIApp) -> None:
        self._exact = {path: app for path, app in endpoints.items() if _ID not in path}
        self._of_object: dict[str, dict[str, ASGIApp]] = {}
        for path, app in endpoints.items():
            if _ID in path:
                collection, _, ending = path.partition(_ID)
                self._of_object.setdefault(collection, {})[ending] = app
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
        # "/v1/<collection>/<identifier>", and then perhaps one more word.
        version, collection, rest = (*path[1:].split("/", 2), "", "", "")[:3]
        endings = self._of_object.get(f"/{version}/{collection}")
        if endings is None or path.count("/") < 3:  # noqa: PLR2004 - before a version, a noun, an id
            return self._others
        ending = "/" + rest.rpartition("/")[2]
        if ending not in endings or ending == f"/{rest}":
            ending = ""
        scope["path_params"] = {"id": rest.removesuffix(ending) if ending else rest}
        return endings[ending]
