"""How tallies are spoken of: rules read them, so that the API has no operation for them."""

from typing import Final

from farthing.core.operation import Operation

OPERATIONS: Final[tuple[Operation, ...]] = ()
