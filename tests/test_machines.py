"""Every state machine: exactly the rows of its table, and the rules that are frozen."""

import itertools
import re
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest
from tests.cases import for_each

from farthing.catalog import MACHINES
from farthing.core.actors import Actor
from farthing.core.errors import StateMismatch, TransitionNotAllowed
from farthing.core.machine import C, Machine, O, P, T

if TYPE_CHECKING:
    from tests.conftest import Database

STATES_PAGE = Path(__file__).parents[1] / "docs" / "reference" / "states.md"

# The contract's table of transactions, row by row: from, to, who.
TRANSACTION_ROWS: dict[tuple[str, str], set[Actor]] = {
    ("PENDING", "ACCEPTED"): {P},
    ("PENDING", "PROCESSING"): {P, T},
    ("PENDING", "HELD"): {P, T, O},
    ("PENDING", "EFFECTED"): {P},
    ("PENDING", "CANCELLED"): {C, T, O},
    ("PENDING", "FAILED"): {P, O},
    ("PENDING", "ERRORED"): {P, O},
    ("ACCEPTED", "PROCESSING"): {P, T},
    ("ACCEPTED", "HELD"): {P, T, O},
    ("ACCEPTED", "EFFECTED"): {P},
    ("ACCEPTED", "CANCELLED"): {C, T, O},
    ("ACCEPTED", "FAILED"): {P, O},
    ("ACCEPTED", "ERRORED"): {P, O},
    ("PROCESSING", "HELD"): {P, O},
    ("PROCESSING", "EFFECTED"): {P, O},
    ("PROCESSING", "CANCELLED"): {T, O},
    ("PROCESSING", "FAILED"): {P, O},
    ("PROCESSING", "ERRORED"): {P, O},
    ("HELD", "EFFECTED"): {T, O},
    ("HELD", "CANCELLED"): {T, O},
    ("HELD", "PENDING"): {T, O},
    ("HELD", "PROCESSING"): {T, O},
    ("HELD", "FAILED"): {O},
    ("ERRORED", "PENDING"): {P, T, O},
    ("ERRORED", "PROCESSING"): {P, T, O},
    ("ERRORED", "CANCELLED"): {T, O},
    ("ERRORED", "FAILED"): {T, O},
    ("EFFECTED", "ADJUSTED"): {T, O},
    ("ADJUSTED", "ADJUSTED"): {T, O},
    ("EFFECTED", "DISPUTED"): {P},
    ("ADJUSTED", "DISPUTED"): {P},
    ("DISPUTED", "EFFECTED"): {P, O},
    ("DISPUTED", "ADJUSTED"): {P, O},
}

EVERY_STEP = [
    (machine, source, target, actor)
    for machine in MACHINES
    for source, target, actor in itertools.product(machine.states, machine.states, Actor)
]
BY_NOUN = {machine.noun: machine for machine in MACHINES}


def named(value: object) -> str | None:
    return value.noun if isinstance(value, Machine) else None


@for_each(EVERY_STEP, lambda step: f"{step[0].noun} {step[1:]}")
def test_a_machine_allows_exactly_the_rows_of_its_table(
    step: tuple[Machine, str, str, Actor],
) -> None:
    machine, source, target, actor = step
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


def test_the_rows_of_a_transaction_are_those_of_the_contract() -> None:
    table = BY_NOUN["transaction"].table
    assert len(table) == len(TRANSACTION_ROWS)
    assert {(row.source, row.target): set(row.who) for row in table} == TRANSACTION_ROWS


def test_cancelled_and_failed_are_final() -> None:
    sources = {source for source, _ in TRANSACTION_ROWS}
    assert set(BY_NOUN["transaction"].states) - sources == {"CANCELLED", "FAILED"}


async def test_the_rows_of_a_transaction_are_published_as_data(client: httpx2.AsyncClient) -> None:
    published = (await client.get("/v1/machines")).json()["results"]
    (shown,) = [one for one in published if one["noun"] == "transaction"]
    rows = [(one["fromStateId"], one["toStateId"]) for one in shown["transitions"]]
    assert len(rows) == len(TRANSACTION_ROWS)
    told = {
        (one["fromStateId"], one["toStateId"]): {Actor(name) for name in one["who"]}
        for one in shown["transitions"]
    }
    assert told == TRANSACTION_ROWS


def test_the_rows_of_a_transaction_are_on_the_page_of_states() -> None:
    page = STATES_PAGE.read_text("utf-8").partition("## Transaction\n")[2].partition("\n## ")[0]
    drawn = re.findall(r"^    ([A-Z]+) --> ([A-Z]+)$", page, re.MULTILINE)
    assert sorted(drawn) == sorted(TRANSACTION_ROWS)
    listed = re.findall(r"^\| ([A-Z]+) \| ([A-Z]+) \| ([a-z, ]+) \|", page, re.MULTILINE)
    assert len(listed) == len(TRANSACTION_ROWS)
    told = {
        (source, target): {Actor(name.upper()) for name in who.split(", ")}
        for source, target, who in listed
    }
    assert told == TRANSACTION_ROWS


async def test_history_can_hold_the_steps_of_a_transaction_and_no_others(
    database: "Database",
) -> None:
    sql = "SELECT source, target FROM machine_steps WHERE machine = 'transaction'"
    kept = [tuple(row) for row in await database.fetch(sql)]
    assert sorted(kept) == sorted(TRANSACTION_ROWS)
