"""A state machine as a picture: states in a column, ways down on the right, ways up on the left.

Long arcs run around short ones, so no arc touches a state that it has nothing to do with. An arc
has the colour of the state that it leads to.
"""

from collections.abc import Iterator
from typing import Final, Literal

from msgspec import Struct

from farthing.core.actors import Actor
from farthing.core.machine import Machine
from farthing.http.docs.html import Html, element
from farthing.http.openapi import words

Side = Literal["left", "right"]

_WIDTH: Final = 128
_LEAST_HEIGHT: Final = 36
_BETWEEN_PORTS: Final = 12
_BETWEEN_STATES: Final = 22
_MARGIN: Final = 12
_ARROW: Final = 7
_COLOURS: Final = 10


class _Way(Struct, frozen=True):
    """All rows from one state to one other; states are counted from the top."""

    source: int
    target: int
    title: str
    platform_only: bool

    @property
    def side(self) -> Side:
        return "left" if self.target < self.source else "right"


class _Box(Struct, frozen=True):
    """Where a state is drawn."""

    top: float
    height: float

    @property
    def middle(self) -> float:
        return self.top + self.height / 2


def draw(machine: Machine) -> Html:
    """Draw a machine."""
    return _Picture(machine).svg()


def is_final(machine: Machine, state: str) -> bool:
    """Tell whether nothing leads away from a state."""
    return all(row.source != state for row in machine.table)


class _Picture:
    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._ways = list(_ways(machine))
        self._boxes = list(self._place())
        self._left = _MARGIN + max(map(self._reach, self._on("left")), default=0)
        self._right = _MARGIN + max(map(self._reach, self._on("right")), default=0)

    def svg(self) -> Html:
        width = self._left + _WIDTH + self._right
        height = self._boxes[-1].top + self._boxes[-1].height + _MARGIN
        return element(
            "svg",
            element("title", f"The states of the {self._machine.noun} and the ways between them"),
            *(self._group(index) for index in range(len(self._boxes))),
            viewBox=f"0 0 {width:.0f} {height:.0f}",
            width=f"{width:.0f}",
            height=f"{height:.0f}",
            role="img",
            class_="machine",
        )

    def _on(self, side: Side) -> list[_Way]:
        return [way for way in self._ways if way.side == side]

    def _ports(self, index: int, side: Side) -> list[tuple[_Way, bool]]:
        """List the ends of arcs at a state from top to bottom, and whether each one arrives.

        What leads up comes first, the nearest at the top; then what leads down, the nearest at
        the bottom: so arcs lie inside each other like the skins of an onion.
        """
        ends = [(way, True) for way in self._on(side) if way.target == index]
        ends += [(way, False) for way in self._on(side) if way.source == index]

        def place(end: tuple[_Way, bool]) -> tuple[bool, int, bool]:
            way, arrives = end
            other = way.source if arrives else way.target
            return other > index, index - other if other < index else -other, arrives

        return sorted(ends, key=place)

    def _place(self) -> Iterator[_Box]:
        top = float(_MARGIN)
        for index in range(len(self._machine.states)):
            most = max(len(self._ports(index, side)) for side in ("left", "right"))
            height = max(_LEAST_HEIGHT, (most + 1) * _BETWEEN_PORTS)
            yield _Box(top, height)
            top += height + _BETWEEN_STATES

    def _port(self, way: _Way, *, arrives: bool) -> float:
        """Return the height at which an arc touches its state."""
        index = way.target if arrives else way.source
        ports = self._ports(index, way.side)
        offset = ports.index((way, arrives)) - (len(ports) - 1) / 2
        return self._boxes[index].middle + offset * _BETWEEN_PORTS

    def _bend(self, way: _Way) -> float:
        distance = abs(self._port(way, arrives=True) - self._port(way, arrives=False))
        # Less than in proportion, or the longest arcs would make the picture wide.
        return 22 + 2.2 * float(distance**0.72)

    def _reach(self, way: _Way) -> float:
        # A cubic curve goes three quarters of the way to its control points.
        return self._bend(way) * 0.75 + _ARROW

    def _group(self, index: int) -> Html:
        ways = [self._arc(way) for way in self._ways if way.source == index]
        return element("g", element("g", *ways, class_="ways"), *self._state(index), class_="state")

    def _state(self, index: int) -> Iterator[Html]:
        name, box = self._machine.states[index], self._boxes[index]
        kind = "box final" if is_final(self._machine, name) else "box"
        yield _rectangle(self._left, box, 0, f"{kind} hue-{index % _COLOURS}")
        if name == self._machine.initial:
            x, y = f"{self._left + 12:.1f}", f"{box.middle:.1f}"
            yield element("circle", element("title", "starts here"), cx=x, cy=y, r="4")
        middle = f"{self._left + _WIDTH / 2:.1f}"
        yield element("text", name, x=middle, y=f"{box.middle + 4:.1f}")

    def _arc(self, way: _Way) -> Html:
        out = 1 if way.side == "right" else -1
        edge = self._left + _WIDTH if way.side == "right" else self._left
        start, end = self._port(way, arrives=False), self._port(way, arrives=True)
        bend, tip = edge + out * self._bend(way), edge + out * _ARROW
        curve = f"M{edge:.1f} {start:.1f}C{bend:.1f} {start:.1f} {bend:.1f} {end:.1f} "
        head = f"M{edge:.1f} {end:.1f}l{out * _ARROW} -4v8z"
        kind = "way platform" if way.platform_only else "way"
        return element(
            "g",
            element("title", way.title),
            element("path", d=f"{curve}{tip:.1f} {end:.1f}", class_="line"),
            element("path", d=head, class_="head"),
            class_=f"{kind} hue-{way.target % _COLOURS}",
        )


def _rectangle(left: float, box: _Box, inset: float, kind: str) -> Html:
    return element(
        "rect",
        x=f"{left + inset:.1f}",
        y=f"{box.top + inset:.1f}",
        width=f"{_WIDTH - 2 * inset:.1f}",
        height=f"{box.height - 2 * inset:.1f}",
        rx="8",
        class_=kind,
    )


def _ways(machine: Machine) -> Iterator[_Way]:
    places = {state: index for index, state in enumerate(machine.states)}
    for source, target in dict.fromkeys((row.source, row.target) for row in machine.table):
        rows = [row for row in machine.table if (row.source, row.target) == (source, target)]
        who = frozenset().union(*(row.who for row in rows))
        meaning = " ".join(row.why for row in rows)
        title = f"{source} to {target}, by {words.actors(who)}: {meaning}"
        yield _Way(places[source], places[target], title, who == {Actor.PLATFORM})
