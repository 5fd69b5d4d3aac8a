"""The application: the operations of the catalogue behind their addresses."""

from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Router
from starlette.types import ASGIApp

from farthing.catalog import LIVE_OPERATIONS, OPERATIONS
from farthing.core.operation import Operation
from farthing.http import challenge, docs, openapi, system
from farthing.http.addresses import Addresses
from farthing.http.auth import Authenticator
from farthing.http.edge import Edge, nowhere
from farthing.http.endpoint import Endpoint
from farthing.http.faults import Faults
from farthing.http.openapi.sections import sections
from farthing.http.pages import page
from farthing.http.service import Service

if TYPE_CHECKING:
    from farthing.http.limits import Limits


def build(service: Service) -> ASGIApp:
    """Make the application of a service that has started."""
    is_live = service.settings.environment == "live"
    own, known = system.operations(service), LIVE_OPERATIONS if is_live else OPERATIONS
    reference = docs.routes(sections(own, known), openapi.server(service.settings))
    pages = [*_pages(service), *reference, challenge.route(service)]

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        yield
        await service.stop()

    others = Router(pages, redirect_slashes=False, default=nowhere, lifespan=lifespan)
    return Edge(Addresses(_endpoints(service, (*own, *known)), others), service.metrics)


def _endpoints(service: Service, operations: tuple[Operation, ...]) -> dict[str, Endpoint]:
    authenticator = Authenticator(service)
    limits = _limits(service.settings.effective_rate_limit)
    faults = Faults(service) if service.settings.environment == "sandbox" else None
    by_path: defaultdict[str, dict[str, Operation]] = defaultdict(dict)
    for operation in operations:
        by_path[operation.path][operation.method] = operation
    return {
        path: Endpoint(service, authenticator, by_path[path], limits, faults) for path in by_path
    }


def _limits(limit: str | None) -> "Limits | None":
    if limit is None:
        return None
    from farthing.http.limits import Limits  # noqa: PLC0415 - the sandbox starts faster without

    return Limits(limit)


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
    ]
