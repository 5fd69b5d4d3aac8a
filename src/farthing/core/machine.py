"""State machines are data: a table of rows, and the one check that reads it."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from msgspec import Struct

from farthing.core.actors import Actor
from farthing.core.errors import Problem, StateMismatch, TransitionNotAllowed

C: Final = Actor.CUSTOMER
T: Final = Actor.CLIENT
O: Final = Actor.OPERATOR  # noqa: E741 - one letter each, as in the published tables
P: Final = Actor.PLATFORM

# What must hold before a row may be taken: it gets the time, the object and the rows kept beside
# it, and raises the Problem that says why not.
Condition = Callable[..., None]
# What a row does beyond changing the state; its docstring says it to the reader of the table.
Effect = Callable[..., Any]


class Transition(Struct, frozen=True):
    """One row of a machine: from where, to where, who may, why, on what condition, with what."""

    source: str
    target: str
    who: frozenset[Actor]
    why: str
    needs: Condition | None = None
    effect: Effect | None = None

    @property
    def condition(self) -> str | None:
        """What must hold, in words."""
        return _first_line(self.needs)

    def unmet(self, *facts: object) -> str | None:
        """Say why the condition does not hold of these facts, if it does not."""
        try:
            if self.needs is not None:
                self.needs(*facts)
        except Problem as refused:
            return refused.detail
        return None

    @property
    def consequence(self) -> str | None:
        """What it does beyond changing the state, in words."""
        return _first_line(self.effect)


# Tells whether a row could be taken now.
Holds = Callable[[Transition], bool]


def _first_line(function: Callable[..., Any] | None) -> str | None:
    return None if function is None else (function.__doc__ or "").strip().partition("\n")[0]


def row(
    source: str,
    target: str,
    who: Iterable[Actor],
    why: str,
    needs: Condition | None = None,
    effect: Effect | None = None,
) -> Transition:
    """Write one row."""
    return Transition(source, target, frozenset(who), why, needs, effect)


class Machine(Struct, frozen=True):
    """The states of one noun and the ways between them."""

    noun: str
    states: Sequence[str]
    initial: str
    table: Sequence[Transition]

    def find(self, source: str, target: str, actor: Actor) -> Transition | None:
        """Return the row that this actor may take, if there is one."""
        for one in self.table:
            if one.source == source and one.target == target and actor in one.who:
                return one
        return None

    def allowed(self, source: str, actor: Actor, holds: Holds | None = None) -> list[str]:
        """List the states that this actor may move an object to, by the rows that hold."""
        rows = (one for one in self.table if one.source == source and actor in one.who)
        targets = {one.target for one in rows if holds is None or holds(one)}
        return [state for state in self.states if state in targets]

    def check(
        self,
        current: str,
        expected: str | None,
        target: str,
        actor: Actor,
        holds: Holds | None = None,
    ) -> Transition:
        """Return the row to take, or raise the Problem that says why there is none.

        Whether its condition holds is for the caller to check; `holds` is for the states that
        the Problem lists.
        """
        if expected is not None and expected != current:
            raise StateMismatch(
                f"fromStateId names another state: the {self.noun} is {current}. "
                "Read it again and decide anew.",
                currentStateId=current,
                allowedStateIds=self.allowed(current, actor, holds),
            )
        found = self.find(current, target, actor)
        if found is None:
            allowed = self.allowed(current, actor, holds)
            ways = ", ".join(allowed) or "nothing"
            raise TransitionNotAllowed(
                f"The {self.noun} is {current}, and {actor} cannot move it to {target}; "
                f"possible from here: {ways}.",
                currentStateId=current,
                allowedStateIds=allowed,
            )
        return found
