"""Schemathesis tries every operation with what its schema allows, and with what it forbids.

Its engine is driven directly, with all its checks and all its phases. Its fixtures for pytest would
make every case while tests are collected, or need an internal name that pytest no longer has.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
import schemathesis
from schemathesis import engine
from schemathesis.core.failures import Failure
from schemathesis.engine import events
from schemathesis.openapi.checks import RejectedPositiveData
from tests.conftest import Database
from tests.http import fuzz_formats
from tests.http.fuzz_service import Sandbox
from tests.http.published import OPERATIONS

from farthing.core.clock import system_clock

# The same cases each time; another number brings others.
SEED: Final = int(os.environ.get("FUZZ_SEED", "1"))
MOST_EXAMPLES: Final = 25

PHASES: Final = ("examples", "coverage", "fuzzing", "stateful")


@pytest.fixture
def sandbox(database: Database) -> Sandbox:
    return Sandbox(database.settings())


@pytest.fixture
def api(sandbox: Sandbox) -> Any:
    fuzz_formats.register(system_clock())
    config = schemathesis.Config(seed=SEED)
    loaded: Any = schemathesis.openapi.from_asgi("/openapi.json", sandbox, config=config)
    loaded.config.generation.update(max_examples=MOST_EXAMPLES, database="none")
    # The sandbox puts real objects in. If answers steered the generation, it would end early.
    loaded.config.phases.fuzzing.extra_data_sources.responses = False
    loaded.auth(refresh_interval=None)(Credential)
    loaded.hook("map_case")(lambda _, case: sandbox.furnish(case))
    loaded.hook("before_add_examples")(lambda _, cases: [sandbox.furnish(case) for case in cases])
    loaded.hook("filter_failure")(is_worth_telling)
    return loaded


class Credential:
    """What opens the operation of a case."""

    def get(self, case: schemathesis.Case[Any], context: schemathesis.AuthContext) -> str | None:
        assert isinstance(context.app, Sandbox)
        return context.app.credential(case)

    def set(self, case: schemathesis.Case[Any], data: str, _: schemathesis.AuthContext) -> None:
        case.headers["X-Token"] = data


def is_worth_telling(_: object, failure: Failure, __: object, response: Any) -> bool:
    """Leave out refusals for what no schema can say.

    That is the same key with another request, a destination outside of the country that the
    account already has, an end that is before its beginning, a place in the log that there is not,
    types of events that there are not, a length of what has none, options of a move that depend on
    the state in which a transaction is, two times at once or one too far away for a clock, a
    snapshot that there is not, where no webhook may be, what an expression means, what an action
    says, and what rules are tried on.
    """
    if not isinstance(failure, RejectedPositiveData):
        return True
    said = response.json()
    faults = said.get("errors", ())
    codes = {fault["code"] for fault in faults}
    unsayable = {"country_mismatch", "wrong_order", "not_applicable"}
    unsayable |= {"unknown_cursor", "unknown_type", "unknown_noun"}
    unsayable |= {"malformed_host", "malformed_port", "credentials_in_url", "fragment_in_url"}
    unsayable |= {"forbidden_address", "unknown_event", "unknown_delivery", "not_exactly_one"}
    unsayable |= {"unknown_snapshot", "bad_expression", "wrong_noun", "unknown_object"}
    unsayable |= {"unknown_owner"}
    is_unsayable = bool(codes) and codes <= unsayable
    is_option = bool(faults) and all(one["pointer"].startswith("/options/") for one in faults)
    is_time = bool(faults) and all(one["pointer"] in {"/advance", "/to"} for one in faults)
    # What an action must say depends on the action, and what an object has on its noun.
    is_rule = bool(faults) and all(
        one["pointer"].startswith(("/then/", "/object/")) for one in faults
    )
    if is_option or is_time or is_rule:
        return False
    return said["code"] != "idempotency_key_reused" and not is_unsayable


@dataclass
class Outcome:
    """What was not as the document says, and which operations did what they are for."""

    found: list[str] = field(default_factory=list)
    reached: set[str] = field(default_factory=set)


@pytest.mark.slow
@pytest.mark.parametrize("phase", PHASES)
def test_every_operation_does_what_the_document_says(api: Any, phase: str) -> None:
    for one in PHASES:
        api.config.phases.get_by_name(name=one).enabled = one == phase
    outcome = run(api)
    assert not outcome.found, f"FUZZ_SEED={SEED}\n" + "\n\n".join(outcome.found)
    if phase == "fuzzing":
        assert outcome.reached == {f"{one.method} {one.path}" for one in OPERATIONS}


def run(api: Any) -> Outcome:
    """Run the phases that are enabled."""
    outcome = Outcome()
    for event in engine.from_schema(api).execute():
        if isinstance(event, events.ScenarioFinished):
            outcome.found += failures(event.recorder)
            outcome.reached |= set(reached(event.recorder))
        elif isinstance(event, events.NonFatalError):
            outcome.found.append(f"{event.label}: {event.value!r}")
        elif isinstance(event, events.FatalError):
            outcome.found.append(repr(event.exception))
    return outcome


def failures(recorder: Any) -> Iterator[str]:
    for case_id, checks in recorder.checks.items():
        for check in checks:
            if check.failure_info is not None:
                failure, response = (
                    check.failure_info.failure,
                    recorder.find_response(case_id=case_id),
                )
                said = "nothing" if response is None else f"{response.status_code} {response.text}"
                sent = check.failure_info.code_sample
                yield f"{failure.operation}: {failure.title}\n{failure.message}\n{sent}\n{said}"


def reached(recorder: Any) -> Iterator[str]:
    for case_id, node in recorder.cases.items():
        response = recorder.find_response(case_id=case_id)
        if response is not None and response.status_code < 300:
            yield node.value.operation.label
