"""A flood beside a calm tenant: what the load of one tenant costs another."""

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import fmean
from typing import Final

from bench import people, wrk
from bench.load import Load
from bench.measurement import Measurement
from bench.stage import Stage
from msgspec import Struct

from farthing.db.committer import Committer
from farthing.db.pool import open_pool
from farthing.resources.access import actions

# So few callers that they never keep the service busy by themselves.
CALM_CONNECTIONS: Final = 4
_AHEAD_SECONDS: Final = 1

Facts = dict[str, str]


class Round(Struct, frozen=True):
    """The calm tenant by itself, then beside the flood, and the flood."""

    alone: Measurement
    beside: Measurement
    flood: Measurement


def settle(stage: Stage) -> Facts:
    """Found the calm tenant with people of its own, and return what its requests need."""
    crowd = asyncio.run(_found(stage))
    file = stage.folder / "calm-customers"
    file.write_text("\n".join(crowd.customers), "ascii")
    return {"token": crowd.token, "customers": str(file)}


async def _found(stage: Stage) -> people.People:
    pool = await open_pool(stage.server.url(), size=2)
    committer = Committer(pool)
    tenant_id = await actions.found_tenant(committer, "Calm")
    key = await actions.issue_api_key(committer, "sandbox", tenant_id)
    await pool.close()
    return await people.gather(stage.base_url, tenant_id, key)


def measure(stage: Stage, load: Load, calm: Facts) -> Round:
    """Measure account creation of the calm tenant twice, the second time beside transfers."""
    quiet = Load(load.seconds, CALM_CONNECTIONS)
    # Longer at both ends than what is measured beside it.
    wave = Load(load.seconds + 2 * _AHEAD_SECONDS, load.connections)
    noisy = {"token": stage.token, "accounts": str(stage.accounts)}
    alone = wrk.measure(stage.base_url, "accounts.lua", quiet, calm)
    with ThreadPoolExecutor(1) as beside:
        flood = beside.submit(wrk.measure, stage.base_url, "transfers.lua", wave, noisy)
        time.sleep(_AHEAD_SECONDS)
        found = wrk.measure(stage.base_url, "accounts.lua", quiet, calm)
        return Round(alone, found, flood.result())


def measurements(rounds: Sequence[Round]) -> list[Measurement]:
    """List everything that was measured."""
    return [run for one in rounds for run in (one.alone, one.beside, one.flood)]


def for_people(load: Load, rounds: Sequence[Round]) -> str:
    """Return what the flood costs the calm tenant, in Markdown."""
    alone, beside = [one.alone for one in rounds], [one.beside for one in rounds]
    flood = [one.flood for one in rounds]
    kept = fmean(run.rate for run in beside) / fmean(run.rate for run in alone)
    return "\n".join(
        [
            "# A flood beside a calm tenant",
            "",
            "| load | connections | per second | p50 ms | p99 ms |",
            "| --- | ---: | ---: | ---: | ---: |",
            _row("The calm tenant opens accounts, alone", CALM_CONNECTIONS, alone),
            _row("The calm tenant opens accounts, beside the flood", CALM_CONNECTIONS, beside),
            _row("The flood: transfers of another tenant", load.connections, flood),
            "",
            f"Beside the flood the calm tenant keeps {kept:.0%} of its rate.",
            "",
        ]
    )


def _row(name: str, connections: int, runs: Sequence[Measurement]) -> str:
    rate, p50 = fmean(run.rate for run in runs), fmean(run.p50 for run in runs)
    worst = max(run.p99 for run in runs)
    return f"| {name} | {connections} | {rate:,.0f} | {p50:.1f} | {worst:.1f} |"
