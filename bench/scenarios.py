"""The scenarios, one small object each. To add one, write its Lua script and one line below."""

from collections.abc import Callable
from typing import Final

import msgspec
from bench import wrk
from bench.load import Load
from bench.measurement import Measurement
from bench.postings import Between
from bench.stage import Stage
from msgspec import Struct

Measure = Callable[[Stage, Load], Measurement]


class Scenario(Struct, frozen=True):
    """Something that is measured beside the reference."""

    name: str
    measure: Measure


def over_http(script: str, *, makes: str | None = None) -> Measure:
    """Return a measurement by wrk; an answer counts only if its row is in the table it makes."""

    def measure(stage: Stage, load: Load) -> Measurement:
        facts = {"token": stage.token, "customers": str(stage.customers)}
        if makes is None:
            return wrk.measure(stage.base_url, script, load, facts)
        before = stage.count(makes)
        measured = wrk.measure(stage.base_url, script, load, facts)
        lost = max(0, measured.operations - (stage.count(makes) - before))
        return msgspec.structs.replace(measured, errors=max(measured.errors, lost))

    return measure


def postings(between: Between) -> Measure:
    """Return a measurement of ledger postings in a process of their own."""

    def measure(stage: Stage, load: Load) -> Measurement:
        numbers = (str(load.seconds), str(load.connections))
        said = stage.run(
            "bench.postings", between, str(stage.accounts), str(stage.tenant_id), *numbers
        )
        return msgspec.json.decode(said, type=Measurement)

    return measure


ACCOUNT_CREATION: Final = Scenario(
    "Account creation over HTTP", over_http("accounts.lua", makes="accounts")
)

CARD_CREATION: Final = Scenario("Card creation over HTTP", over_http("cards.lua", makes="cards"))

# Reads write no row, so there is none to count.
READS: Final = Scenario("Reading customers over HTTP", over_http("reads.lua"))

SCENARIOS: Final = (
    ACCOUNT_CREATION,
    Scenario(
        "Bank account creation over HTTP", over_http("bank_accounts.lua", makes="bank_accounts")
    ),
    CARD_CREATION,
    Scenario("Ledger postings, 1,000 accounts", postings(Between.MANY)),
    Scenario("Ledger postings, one hot account", postings(Between.HOT)),
)
