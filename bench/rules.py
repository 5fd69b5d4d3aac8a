"""Rules beside transfers: what it costs to be judged by none, by ten, and by a hundred."""

import asyncio
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any, Final

import httpx2
from bench import wrk
from bench.load import Load
from bench.measurement import Measurement
from bench.stage import Stage
from msgspec import Struct

from farthing.db.committer import Committer
from farthing.db.pool import open_pool
from farthing.resources.access import actions

NUMBERS: Final = (0, 10, 100)
_TEN: Final = 10
_TIMES: Final = 10
_OPENING_SECONDS: Final = 40
_PLAIN: Final = (
    'object.amount > {n}000000 && !("vip" in object.tags)',
    'object.flow == "OUTBOUND" && object.amount < {n}00',
    'object.purpose == "PURCHASE" && !has(object.annotations.order{n})',
    '"blocked{n}" in object.tags || object.amount == {n}999999',
    'has(object.annotations.channel) && object.annotations.channel == "phone{n}"',
    'object.currencyISO == "EUR" && object.amount > {n}000',
    'actor.type == "CUSTOMER" && object.amount > {n}50000',
    "size(object.tags) > 40 && object.amount > {n}0",
)
_OF_OWNER: Final = '"risky{n}" in owner.tags'
# Over the same tallies, each for as long as the others or longer.
_WINDOWED: Final = (
    'history.count("internal", duration("{hours}h")) > {n}00000000',
    'history.sum("internal", duration("{hours}h")) + object.amount > {n}00000000000',
)


def conditions(number: int) -> list[str]:
    """Return the conditions of so many rules, of which two in ten have windows.

    From the second ten on, one of them is about the owner, who must then be looked at too.
    """
    return [text for n in range(1, number // 10 + 1) for text in _ten(n)]


def _ten(n: int) -> Iterator[str]:
    plain = _PLAIN if n == 1 else (*_PLAIN[:-1], _OF_OWNER)
    for text in (*plain, *_WINDOWED):
        yield text.format(n=n, hours=1 + 23 * (n % 2))


class Rules:
    """The rules of the tenant of a stage."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._key = asyncio.run(_issue_key(stage))

    def set(self, number: int) -> None:
        """Replace all rules with so many, none of which ever holds."""
        asyncio.run(self._set(number))

    async def _set(self, number: int) -> None:
        headers = {"X-Token": self._key}
        async with httpx2.AsyncClient(base_url=self._stage.base_url, headers=headers) as client:
            for query in ("?limit=100", "?limit=100"):
                found = (await client.get(f"/v1/rules{query}&stateId=ENABLED")).json()
                for one in found["results"]:
                    (await client.delete(f"/v1/rules/{one['id']}")).raise_for_status()
            for place, when in enumerate(conditions(number)):
                body: dict[str, Any] = {
                    "name": f"Rule {place}",
                    "on": "transaction.create",
                    "when": when,
                    "then": [{"action": "refuse", "message": "It never comes to this."}],
                }
                (await client.post("/v1/rules", json=body)).raise_for_status()


async def _issue_key(stage: Stage) -> str:
    pool = await open_pool(stage.server.url(), size=2)
    key = await actions.issue_api_key(Committer(pool), "sandbox", stage.tenant_id)
    await pool.close()
    return key


def ensure_ten(stage: Stage) -> dict[str, str]:
    """See to it that ten rules are enabled, and that the tallies count all that is there.

    What was filled in since the rules were made is only counted by rules that are made anew.
    """
    note, there = stage.folder / "ruled", stage.count("transactions")
    before = int(note.read_text("ascii")) if note.exists() else 0
    if there > _TIMES * before:
        note.write_text(str(there), "ascii")
        Rules(stage).set(_TEN)
        # Beside a million transactions each tally begins with a thousand marks.
        facts = {"token": stage.token, "accounts": str(stage.accounts)}
        wrk.measure(stage.base_url, "transfers.lua", Load(_OPENING_SECONDS), facts)
    return {}


class Round(Struct, frozen=True):
    """Transfers beside no rule, beside ten, and beside a hundred, one after the other."""

    runs: tuple[Measurement, ...]

    @property
    def shares(self) -> list[float]:
        """Which share of the rate without rules each number of rules leaves."""
        return [run.rate / self.runs[0].rate if self.runs[0].rate else 0.0 for run in self.runs]


def measure(stage: Stage, rules: Rules, load: Load) -> Round:
    """Measure transfers under each number of rules."""
    facts = {"token": stage.token, "accounts": str(stage.accounts)}
    runs = []
    for number in NUMBERS:
        rules.set(number)
        # The first request of each customer opens its tallies.
        wrk.measure(stage.base_url, "transfers.lua", Load(2, load.connections), facts)
        runs.append(wrk.measure(stage.base_url, "transfers.lua", load, facts))
    return Round(tuple(runs))


def measurements(rounds: Sequence[Round]) -> list[Measurement]:
    """List everything that was measured."""
    return [run for one in rounds for run in one.runs]


def for_people(rounds: Sequence[Round]) -> str:
    """Return what rules cost, in Markdown."""
    lines = [
        "# Transfers beside rules",
        "",
        "| enabled rules | with windows | per second | p50 ms | p99 ms | share of the rate |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for place, number in enumerate(NUMBERS):
        runs = [one.runs[place] for one in rounds]
        shares = [one.shares[place] for one in rounds]
        rate, p50 = fmean(run.rate for run in runs), fmean(run.p50 for run in runs)
        worst = max(run.p99 for run in runs)
        share = f"{fmean(shares):.2f} ({min(shares):.2f} to {max(shares):.2f})"
        lines.append(
            f"| {number} | {number // 5} | {rate:,.0f} | {p50:.1f} | {worst:.1f} | {share} |"
        )
    return "\n".join([*lines, ""])
