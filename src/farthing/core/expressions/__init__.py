"""The language of rules: CEL, checked before it is used and evaluated in one go.

Reading a field or key that is absent is a failure while the rule runs; `has(object.field)` and
`"key" in object.map` ask before. A value that is null counts as absent.
"""

from collections.abc import Collection, Mapping

from farthing.core.expressions.check import Checker
from farthing.core.expressions.failures import Failure
from farthing.core.expressions.faults import BadExpression, Fault
from farthing.core.expressions.parse import parse
from farthing.core.expressions.program import (
    UNREADABLE,
    Combined,
    Expression,
    reads_of,
    windows_of,
)
from farthing.core.expressions.reference import Reference, describe
from farthing.core.expressions.types import (
    BOOL,
    DOUBLE,
    DURATION,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    Type,
    list_of,
    map_of,
    record,
)
from farthing.core.expressions.windows import Window

__all__ = [
    "BOOL",
    "DOUBLE",
    "DURATION",
    "INT",
    "NULL",
    "STRING",
    "TIMESTAMP",
    "UNREADABLE",
    "BadExpression",
    "Combined",
    "Expression",
    "Failure",
    "Reference",
    "Type",
    "Window",
    "describe",
    "list_of",
    "map_of",
    "read_expression",
    "record",
]


def read_expression(source: str, names: Mapping[str, Type], history: Collection[str]) -> Expression:
    """Read and check an expression that must be true or false, or raise BadExpression."""
    try:
        tree = parse(source)
        checked = Checker(names, history).check_rule(tree)
    except Fault as fault:
        raise fault.placed(source) from None
    pieces = checked.pieces
    made = Expression(source, windows_of(pieces), reads_of(pieces), pieces)
    try:
        Combined([made])
    except ValueError:
        # It must not come to light later, when it would stand in the way of all the others.
        raise BadExpression("The library cannot compile this expression.", 1, 1) from None
    return made
