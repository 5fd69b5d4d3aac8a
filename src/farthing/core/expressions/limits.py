"""How big an expression may be: it runs inside every request that it guards."""

from typing import Final

MOST_CHARACTERS: Final = 2_000
MOST_NODES: Final = 200
MOST_DEPTH: Final = 20
MOST_MACROS: Final = 2
MOST_WINDOWS: Final = 5
MOST_PATTERN: Final = 100
MOST_MEMORY: Final = 1 << 18
MOST_COST: Final = 150_000
SHORTEST_WINDOW: Final = 1
LONGEST_WINDOW: Final = 31 * 24 * 60 * 60
MOST_HOURS: Final = 100 * 365 * 24
LEAST_INT: Final = -(2**63)
MOST_INT: Final = 2**63 - 1

LIMITS: Final = {
    "characters": (MOST_CHARACTERS, "The length of an expression."),
    "nodes": (MOST_NODES, "How many names, values, operators and calls it has."),
    "depth": (MOST_DEPTH, "How deep they and their brackets are inside each other."),
    "macros": (MOST_MACROS, "How many macros are inside each other, or follow each other."),
    "windows": (MOST_WINDOWS, "How many different questions it asks of the history."),
    "pattern": (MOST_PATTERN, "The length of a regular expression."),
    "cost": (MOST_COST, "How many small steps it could take at most; all of them are some 15 ms."),
    "window": (LONGEST_WINDOW, "How many seconds back the history can be asked."),
    "duration": (MOST_HOURS, "How many hours a duration can have."),
}
