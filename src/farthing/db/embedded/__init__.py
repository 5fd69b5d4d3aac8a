"""A PostgreSQL of our own, so that a newcomer installs no database."""

from farthing.db.embedded.programs import EmbeddedServerError, binary
from farthing.db.embedded.server import EmbeddedServer

__all__ = ["EmbeddedServer", "EmbeddedServerError", "binary"]
