"""The scenarios, one small object each. To add one, write its Lua script and one line below."""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from bench import rules, wrk
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


def _nothing(_: Stage) -> dict[str, str]:
    return {}


def over_http(
    script: str, *makes: str, prepare: Callable[[Stage], dict[str, str]] = _nothing
) -> Measure:
    """Return a measurement by wrk; an answer counts only if its row is among those it makes.

    Each request makes a row of one kind. Where there are several kinds, one of each belong
    together. What is prepared returns further facts for the script.
    """

    def measure(stage: Stage, load: Load) -> Measurement:
        facts = {
            "token": stage.token,
            "customers": str(stage.customers),
            "accounts": str(stage.accounts),
            **prepare(stage),
        }
        before = [stage.count(rows) for rows in makes]
        measured = wrk.measure(stage.base_url, script, load, facts)
        made = [stage.count(rows) - old for rows, old in zip(makes, before, strict=True)]
        return counted(measured, made)

    return measure


def counted(measured: Measurement, made: Sequence[int]) -> Measurement:
    """Count an answer without its row as an error, and those that belong together as one."""
    lost = max(0, measured.operations - sum(made)) if made else 0
    return msgspec.structs.replace(
        measured,
        errors=max(measured.errors, lost),
        pairs=min(made) if len(made) > 1 else 0,
    )


def postings(between: Between) -> Measure:
    """Return a measurement of ledger postings in a process of their own."""

    def measure(stage: Stage, load: Load) -> Measurement:
        numbers = (str(load.seconds), str(load.connections))
        said = stage.run(
            "bench.postings", between, str(stage.accounts), str(stage.tenant_id), *numbers
        )
        return msgspec.json.decode(said, type=Measurement)

    return measure


def _payments(stage: Stage) -> dict[str, str]:
    """Make payments that nobody has adjusted yet, so that no run inherits what another left."""
    return {"payments": str(stage.make_payments())}


ACCOUNT_CREATION: Final = Scenario(
    "Account creation over HTTP", over_http("accounts.lua", "accounts")
)

CARD_CREATION: Final = Scenario("Card creation over HTTP", over_http("cards.lua", "cards"))

TRANSFERS: Final = Scenario(
    "Internal transfers over HTTP, 1,000 accounts", over_http("transfers.lua", "transactions")
)

RULED_TRANSFERS: Final = Scenario(
    "Internal transfers over HTTP, ten rules",
    over_http("transfers.lua", "transactions", prepare=rules.ensure_ten),
)

# Reads write no row, so there is none to count.
READS: Final = Scenario("Reading customers over HTTP", over_http("reads.lua"))

SCENARIOS: Final = (
    ACCOUNT_CREATION,
    Scenario("Bank account creation over HTTP", over_http("bank_accounts.lua", "bank_accounts")),
    CARD_CREATION,
    TRANSFERS,
    Scenario("Internal transfers over HTTP, one hot account", over_http("hot.lua", "transactions")),
    Scenario(
        "Escrow held and released over HTTP",
        over_http("escrow.lua", "transactions", "history WHERE source = 'HELD'"),
    ),
    Scenario(
        "Adjustments over HTTP",
        over_http("adjustments.lua", "history WHERE target = 'ADJUSTED'", prepare=_payments),
    ),
    Scenario("Ledger postings, 1,000 accounts", postings(Between.MANY)),
    Scenario("Ledger postings, one hot account", postings(Between.HOT)),
)
