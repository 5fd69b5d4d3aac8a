"""Rules beside transfers: what it costs to be judged by none, by ten, and by a hundred."""

import asyncio
from collections.abc import Iterator, Sequence
from statistics import median, quantiles
from typing import Any, Final

import httpx2
from bench import ledger, money, people, wrk
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
_WARM_UP_SECONDS: Final = 5
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
# Over the same tallies. The short window moves all the time, as a long one does once it is full.
_WINDOWED: Final = (
    'history.count("internal", duration("{short}")) > {n}00000000',
    'history.sum("internal", duration("24h")) + object.amount > {n}00000000000',
)


def conditions(number: int) -> list[str]:
    """Return the conditions of so many rules, of which two in ten have windows.

    From the second ten on, one of them is about the owner, who must then be looked at too.
    """
    return [text for n in range(1, number // 10 + 1) for text in _ten(n)]


def _ten(n: int) -> Iterator[str]:
    plain = _PLAIN if n == 1 else (*_PLAIN[:-1], _OF_OWNER)
    for text in (*plain, *_WINDOWED):
        yield text.format(n=n, short="2s" if n % 2 else "1h")


class House(Struct, frozen=True):
    """A tenant with customers of its own, and with so many rules."""

    base_url: str
    facts: dict[str, str]

    def transfer(self, load: Load) -> Measurement:
        """Measure transfers among its customers."""
        return wrk.measure(self.base_url, "transfers.lua", load, self.facts)


def settle(stage: Stage, number: int) -> House:
    """Found a tenant that has so many rules from the start, none of which ever holds.

    If one tenant got other rules before each measurement, it would count anew what is there, and
    slow down whatever is measured next.
    """
    return asyncio.run(_settle(stage, number))


async def _settle(stage: Stage, number: int) -> House:
    url = stage.server.url()
    pool = await open_pool(url, size=2)
    committer = Committer(pool)
    tenant_id = await actions.found_tenant(committer, f"Beside {number} rules")
    key = await actions.issue_api_key(committer, "sandbox", tenant_id)
    await pool.close()
    crowd = await people.gather(stage.base_url, tenant_id, key)
    file = stage.folder / f"accounts-{number}"
    file.write_text("\n".join(crowd.accounts), "ascii")
    await money.fund(url, tenant_id, ledger.listed(file))
    await _make(stage.base_url, key, number)
    house = House(stage.base_url, {"token": crowd.token, "accounts": str(file)})
    # The first request of each customer begins its tallies.
    house.transfer(Load(_WARM_UP_SECONDS))
    return house


async def _make(base_url: str, key: str, number: int) -> None:
    """Replace all rules with so many."""
    async with httpx2.AsyncClient(base_url=base_url, headers={"X-Token": key}) as client:
        found = (await client.get("/v1/rules?limit=100&stateId=ENABLED")).json()
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


def ensure_ten(stage: Stage) -> dict[str, str]:
    """See to it that ten rules are enabled, and that the tallies count all that is there.

    What was filled in since the rules were made is only counted by rules that are made anew.
    """
    note, there = stage.folder / "ruled", stage.count("transactions")
    before = int(note.read_text("ascii")) if note.exists() else 0
    if there > _TIMES * before:
        note.write_text(str(there), "ascii")
        asyncio.run(_make_for(stage, _TEN))
        # Beside a million transactions each tally begins with a thousand marks.
        facts = {"token": stage.token, "accounts": str(stage.accounts)}
        wrk.measure(stage.base_url, "transfers.lua", Load(_OPENING_SECONDS), facts)
    return {}


async def _make_for(stage: Stage, number: int) -> None:
    pool = await open_pool(stage.server.url(), size=2)
    key = await actions.issue_api_key(Committer(pool), "sandbox", stage.tenant_id)
    await pool.close()
    await _make(stage.base_url, key, number)


class Round(Struct, frozen=True):
    """Transfers beside no rule, beside ten, and beside a hundred."""

    runs: tuple[Measurement, ...]

    @property
    def shares(self) -> list[float]:
        """Which share of the rate without rules each number of rules leaves."""
        return [run.rate / self.runs[0].rate if self.runs[0].rate else 0.0 for run in self.runs]


def measure(houses: Sequence[House], load: Load, rounds: int) -> list[Round]:
    """Measure each house once a round, there and back again, so that no place has an advantage."""
    measured = []
    for number in range(rounds):
        there = 1 if number % 2 == 0 else -1
        runs = [house.transfer(load) for house in houses[::there]]
        measured.append(Round(tuple(runs[::there])))
    return measured


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
        low, share, high = _middle([one.shares[place] for one in rounds])
        rate, p50 = median(run.rate for run in runs), median(run.p50 for run in runs)
        p99 = median(run.p99 for run in runs)
        lines.append(
            f"| {number} | {number // 5} | {rate:,.0f} | {p50:.1f} | {p99:.1f} "
            f"| {share:.2f} ({low:.2f} to {high:.2f}) |"
        )
    told = f"Medians of {len(rounds)} rounds; the middle half of the shares lies in between."
    return "\n".join([*lines, "", told, ""])


def _middle(values: Sequence[float]) -> tuple[float, float, float]:
    """Return between what the middle half of these lies, and their median."""
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return low, middle, high
