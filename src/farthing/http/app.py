"""The application: the operations of the catalogue behind their addresses."""

from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, Router
from starlette.types import ASGIApp

from farthing.catalog import OPERATIONS
from farthing.core.operation import Operation
from farthing.http import docs, system
from farthing.http.auth import Authenticator
from farthing.http.edge import Edge, nowhere
from farthing.http.endpoint import Endpoint
from farthing.http.pages import page
from farthing.http.service import Service


def build(service: Service) -> ASGIApp:
    """Make the application of a service that has started."""
    operations = (*system.operations(service), *OPERATIONS)
    routes = [*_routes(service, operations), *_pages(service)]

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        yield
        await service.stop()

    router = Router(routes, redirect_slashes=False, default=nowhere, lifespan=lifespan)
    return Edge(router, service.metrics)


def _routes(service: Service, operations: tuple[Operation, ...]) -> list[BaseRoute]:
    authenticator = Authenticator(service)
    by_path: defaultdict[str, dict[str, Operation]] = defaultdict(dict)
    for operation in operations:
        by_path[operation.path][operation.method] = operation
    return [
        # An identifier has a slash of its own, plain or percent-encoded, so it takes any text;
        # the longer addresses come first, or it would take their ends too.
        Route(path.replace("{id}", "{id:path}"), Endpoint(service, authenticator, by_path[path]))
        for path in sorted(by_path, key=len, reverse=True)
    ]


def _pages(service: Service) -> list[BaseRoute]:
    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def readiness(_: Request) -> Response:
        ready = await system.is_ready(service)
        return JSONResponse({"ready": ready}, status_code=200 if ready else 503)

    async def metrics(_: Request) -> Response:
        service.metrics.waiting.set(service.committer.waiting)
        return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")

    return [
        page("/healthz", health),
        page("/readyz", readiness),
        page("/metrics", metrics),
        *docs.routes(system.operations(service)),
    ]
