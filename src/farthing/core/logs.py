"""Logs: structured, on standard error, without secrets."""

import logging
import sys
from typing import Any

import msgspec
import structlog

from farthing.config import Settings


def configure_logs(settings: Settings) -> None:
    """Set the level and the form of everything that this process logs."""
    renderer: Any = (
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
        if settings.log_format == "console"
        else structlog.processors.JSONRenderer(serializer=_encode)
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            # The traceback without the locals: those could hold anything.
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[settings.log_level.upper()]
        ),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )


def _encode(event: dict[str, Any], **_: object) -> str:
    return msgspec.json.encode(event, enc_hook=str).decode()
