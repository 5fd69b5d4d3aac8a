"""Every state machine: exactly the rows of its table, and the rules that are frozen."""

import itertools

import pytest

from farthing.catalog import MACHINES
from farthing.core.actors import Actor
from farthing.core.errors import StateMismatch, TransitionNotAllowed
from farthing.core.machine import Machine

EVERY_STEP = [
    (machine, source, target, actor)
    for machine in MACHINES
    for source, target, actor in itertools.product(machine.states, machine.states, Actor)
]
BY_NOUN = {machine.noun: machine for machine in MACHINES}


def named(value: object) -> str | None:
    return value.noun if isinstance(value, Machine) else None


@pytest.mark.parametrize(("machine", "source", "target", "actor"), EVERY_STEP, ids=named)
def test_a_machine_allows_exactly_the_rows_of_its_table(
    machine: Machine, source: str, target: str, actor: Actor
) -> None:
    rows = [
        row
        for row in machine.table
        if (row.source, row.target) == (source, target) and actor in row.who
    ]
    assert (target in machine.allowed(source, actor)) == bool(rows)
    if rows:
        assert machine.check(source, None, target, actor) == rows[0]
        assert machine.check(source, source, target, actor) == rows[0]
        return
    with pytest.raises(TransitionNotAllowed) as refused:
        machine.check(source, None, target, actor)
    assert refused.value.members == {
        "currentStateId": source,
        "allowedStateIds": machine.allowed(source, actor),
    }


@pytest.mark.parametrize("machine", MACHINES, ids=named)
def test_a_state_that_was_not_expected_comes_before_everything_else(machine: Machine) -> None:
    for current, expected in itertools.permutations(machine.states, 2):
        with pytest.raises(StateMismatch) as refused:
            machine.check(current, expected, current, Actor.OPERATOR)
        assert refused.value.members["currentStateId"] == current


@pytest.mark.parametrize("machine", MACHINES, ids=named)
def test_a_table_has_each_step_once_and_knows_its_states(machine: Machine) -> None:
    steps = [(row.source, row.target) for row in machine.table]
    assert len(steps) == len(set(steps))
    assert {state for step in steps for state in step} <= set(machine.states)
    assert machine.initial in machine.states
    assert all(row.why.endswith(".") and row.who for row in machine.table)


@pytest.mark.parametrize("noun", ["bank_account", "card", "account", "reference"])
def test_closed_is_final(noun: str) -> None:
    assert not any(row.source == "CLOSED" for row in BY_NOUN[noun].table)


def test_a_disabled_card_is_enabled_by_the_operator_alone() -> None:
    rows = [r for r in BY_NOUN["card"].table if (r.source, r.target) == ("DISABLED", "ENABLED")]
    assert [row.who for row in rows] == [frozenset({Actor.OPERATOR})]
