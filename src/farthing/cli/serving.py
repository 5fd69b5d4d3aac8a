"""Running the service and the worker in this process, until a signal says stop."""

import asyncio
import gc
import socket
from collections.abc import Callable, Coroutine
from typing import Any, Final

import uvicorn
import uvloop

from farthing.cli.processes import run_beside_each_other
from farthing.config import Settings, SettingsError
from farthing.core.logs import configure_logs
from farthing.http.app import build
from farthing.http.faults import CuttableProtocol
from farthing.http.service import Service
from farthing.worker.loop import work

# How long requests that are under way may take to end once the service stops.
_GRACE_SECONDS: Final = 5
_BACKLOG: Final = 2048


def serve() -> None:
    """Serve the API."""
    settings = _load()
    with _listen(settings) as listener:
        if settings.processes == 1:
            _run(lambda: _serve(settings, listener))
        else:
            run_beside_each_other(
                settings.processes, lambda: _run(lambda: _serve(settings, listener))
            )


def run_worker() -> None:
    """Do what falls due."""
    settings = _load()
    _run(lambda: work(settings))


def _load() -> Settings:
    settings = Settings.load()
    settings.require_fit_for_live()
    configure_logs(settings)
    return settings


def _run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())


def _listen(settings: Settings) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        return socket.create_server((settings.host, settings.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise SettingsError(
            f"Cannot listen on {settings.host}:{settings.port}: {error.strerror}. "
            "Choose another FARTHING_PORT, or stop what uses this one."
        ) from None


def _calm_collector() -> None:
    """Let the collector look seldom, and never at what lives as long as the process.

    A request leaves next to nothing in cycles, but makes enough objects to set the collector off.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


class Server(uvicorn.Server):
    """A server that ends streams when it stops; other requests end by themselves."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop, within the time that requests under way are given."""
        self._service.streams.close()
        await super().shutdown(sockets)


async def _serve(settings: Settings, listener: socket.socket) -> None:
    service = await Service.start(settings)
    config = uvicorn.Config(
        build(service),
        # Only the sandbox hangs up on its callers, at their own wish.
        http=CuttableProtocol if settings.environment == "sandbox" else "auto",
        log_config=None,
        access_log=False,
        server_header=False,
        # Nothing here depends on the caller's address, so nobody needs to forge one.
        proxy_headers=False,
        date_header=True,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        lifespan="on",
        ws="none",
    )
    _calm_collector()
    await Server(config, service).serve([listener])
