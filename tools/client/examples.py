"""Examples of the namespaces, which run as tests; `client` is a Farthing on a fresh sandbox."""

from typing import Final

EXAMPLES: Final[dict[str, str]] = {}
