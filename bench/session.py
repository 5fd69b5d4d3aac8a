"""One session: the reference and the scenarios by turns, because machines are noisy."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final, Self

from bench import pgbench
from bench.growth import Growth
from bench.load import Load
from bench.measurement import Measurement, Point, Result, Trial, summarise, summarise_trials
from bench.scenarios import Scenario
from bench.stage import REFERENCE, Stage
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

REFERENCE_NAME: Final = "pgbench TPC-B"
_WARM_UP_SECONDS: Final = 2
_COLUMNS: Final = (
    SpinnerColumn(),
    BarColumn(),
    MofNCompleteColumn(),
    TimeElapsedColumn(),
    TextColumn("{task.description}"),
)


class Session:
    """Measures on one stage and shows how far it is; also a context manager."""

    def __init__(self, stage: Stage, load: Load, steps: int, console: Console) -> None:
        self._stage = stage
        self._load = load
        self._progress = Progress(*_COLUMNS, console=console)
        self._task = self._progress.add_task("", total=steps)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._stack.enter_context(self._progress)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def fill_reference(self) -> None:
        """Make the tables of the reference, and run it for a moment without counting it."""
        url = self._stage.server.url(REFERENCE)
        self._say("filling the tables of the reference")
        pgbench.fill(url)
        pgbench.measure(url, Load(_WARM_UP_SECONDS), self._stage.folder)
        self._advance()

    def warm_up(self, scenarios: Sequence[Scenario]) -> None:
        """Run every scenario for a moment without counting it."""
        self._say("warming up")
        for scenario in scenarios:
            scenario.measure(self._stage, Load(_WARM_UP_SECONDS))
        self._advance()

    def compare(self, scenarios: Sequence[Scenario], rounds: int) -> list[Result]:
        """Measure each scenario between two runs of the reference, round by round."""
        references = [self._measure_reference(self._load)]
        trials: dict[str, list[Trial]] = {scenario.name: [] for scenario in scenarios}
        for scenario in [one for _ in range(rounds) for one in scenarios]:
            measured = self._measure(scenario, self._load)
            references.append(self._measure_reference(self._load))
            trials[scenario.name].append(Trial(references[-2], measured, references[-1]))
        return [
            summarise(REFERENCE_NAME, references, [1.0]),
            *(summarise_trials(name, some) for name, some in trials.items()),
        ]

    def measure(self, scenario: Scenario) -> Measurement:
        """Measure one scenario, once."""
        return self._measure(scenario, self._load)

    def sweep(self, scenario: Scenario, connections: Sequence[int]) -> list[Point]:
        """Measure the reference and one scenario with more and more connections."""
        points = []
        for load in [Load(self._load.seconds, number) for number in connections]:
            reference = self._measure_reference(load)
            points.append(Point(load.connections, self._measure(scenario, load), reference))
        return points

    def fill(self, growth: Growth, many: int) -> None:
        """Add so many of the objects beside which a scenario is measured."""
        self._say(f"adding {many:,} {growth.noun}")
        self._stage.fill(growth.statements, many)
        self._advance()

    def verify(self) -> None:
        """Let `farthing verify` recompute everything: a fast ledger must still be a right one."""
        self._say("verifying the books")
        self._stage.run("farthing", "verify")
        self._advance()

    def _measure(self, scenario: Scenario, load: Load) -> Measurement:
        name = f"{scenario.name}, {load.connections} connections"
        self._say(name)
        return self._note(name, scenario.measure(self._stage, load))

    def _measure_reference(self, load: Load) -> Measurement:
        name = f"{REFERENCE_NAME}, {load.connections} clients"
        self._say(name)
        url = self._stage.server.url(REFERENCE)
        return self._note(name, pgbench.measure(url, load, self._stage.folder))

    def _note(self, name: str, measured: Measurement) -> Measurement:
        self._progress.console.print(
            f"{name}: {measured.rate:,.0f}/s, p50 {measured.p50:.1f} ms, "
            f"p99 {measured.p99:.1f} ms, {measured.errors} errors",
            highlight=False,
            soft_wrap=True,
        )
        self._advance()
        return measured

    def _say(self, what: str) -> None:
        self._progress.update(self._task, description=what)

    def _advance(self) -> None:
        self._progress.advance(self._task)
