"""What one run can be: a comparison, a sweep, a look at sizes, at memory, or at the time spent."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench import deliveries, flood, plot, profiling, report, rules
from bench.growth import GROWTHS, Growth
from bench.interrupts import signals_interrupt, undisturbed_end
from bench.load import BenchError, Load
from bench.measurement import Measurement, Result, any_errors
from bench.scenarios import (
    ACCOUNT_CREATION,
    CARD_CREATION,
    READS,
    SCENARIOS,
    TRANSFERS,
    Scenario,
)
from bench.session import Session
from bench.stage import Stage, last_lines, set_up
from msgspec import Struct
from rich.console import Console

CONSOLE: Final = Console(highlight=False)
_RESULTS: Final = Path(__file__).parent / "results"
# Warming up, and verifying the books at the end.
_STEPS_AROUND: Final = 2
_WARM_UP_SECONDS: Final = 2
_MANY_REQUESTS: Final = 1_000_000
_MIXED: Final = (ACCOUNT_CREATION, CARD_CREATION, TRANSFERS, READS, READS, READS, READS)
_CONNECTIONS: Final = (1, 4, 16, 64, 128, 256)


class Plan(Struct, frozen=True):
    """What this run measures, and under which name it keeps the results."""

    name: str
    load: Load
    rounds: int
    only: str
    machine: dict[str, str]

    def chosen(self) -> list[Scenario]:
        """Return the scenarios that the run is about."""
        found = [one for one in SCENARIOS if self.only.lower() in one.name.lower()]
        if not found:
            known = "; ".join(one.name for one in SCENARIOS)
            raise BenchError(f"No scenario has that text in its name. There are: {known}.")
        return found


def compare(plan: Plan) -> bool:
    """Measure the scenarios beside the reference."""
    scenarios = plan.chosen()
    # The reference is filled once, and runs once more often than the scenarios.
    steps = _STEPS_AROUND + 2 + 2 * plan.rounds * len(scenarios)
    with _on_stage() as stage, Session(stage, plan.load, steps, CONSOLE) as session:
        session.fill_reference()
        session.warm_up(scenarios)
        results = session.compare(scenarios, plan.rounds)
        session.verify()
        _tell(stage, results)
    CONSOLE.print(report.for_terminal(results))
    made = report.make(plan.load, plan.rounds, plan.machine, results)
    report.write_json(made, _RESULTS / f"{plan.name}.json")
    plot.draw_ratios(results, _RESULTS / f"{plan.name}.png")
    _write(plan.name, report.for_people(made, f"{plan.name}.png"))
    return not any_errors(results)


def sweep(plan: Plan) -> bool:
    """Measure transfers with more and more connections, beside the reference with as many."""
    steps = _STEPS_AROUND + 1 + 2 * len(_CONNECTIONS)
    with _on_stage(roomy=True) as stage, Session(stage, plan.load, steps, CONSOLE) as session:
        session.fill_reference()
        session.warm_up([TRANSFERS])
        points = session.sweep(TRANSFERS, _CONNECTIONS)
        session.verify()
        measured = [run for point in points for run in (point.measured, point.reference)]
        _tell(stage, measured)
    report.write_json(points, _RESULTS / f"{plan.name}.json")
    plot.draw_sweep(TRANSFERS.name, points, _RESULTS / f"{plan.name}.png")
    _write(plan.name, report.of_sweep(TRANSFERS.name, points, f"{plan.name}.png"))
    return not any_errors(measured)


def compare_sizes(plan: Plan) -> bool:
    """Tell what the size of the tables does to a cost, each on a fresh database."""
    growths = [one for one in GROWTHS if plan.only.lower() in one.scenario.name.lower()]
    if not growths:
        known = "; ".join(one.scenario.name for one in GROWTHS)
        raise BenchError(f"No such scenario is measured beside many. There are: {known}.")
    return False not in [_grow(plan, one) for one in growths]


def _grow(plan: Plan, growth: Growth) -> bool:
    scenario, sizes = growth.scenario, (growth.few, growth.many)
    steps = 1 + len(sizes) * (plan.rounds + 2)
    runs: list[list[Measurement]] = []
    with _on_stage() as stage, Session(stage, plan.load, steps, CONSOLE) as session:
        for size in sizes:
            session.fill(growth, size)
            session.warm_up([scenario])
            runs.append([session.measure(scenario) for _ in range(plan.rounds)])
        session.verify()
        _tell(stage, [*runs[0], *runs[1]])
    found = report.of_sizes(growth, *runs)
    CONSOLE.print(found)
    _write(growth.name, found)
    return not any_errors([*runs[0], *runs[1]])


def watch_memory(plan: Plan) -> bool:
    """Tell what the service holds in memory before and after a million requests, mostly reads."""
    runs: list[Measurement] = []
    done = 0
    with _on_stage() as stage:
        begin = peak = stage.memory()
        while done < _MANY_REQUESTS:
            for scenario in _MIXED:
                runs.append(scenario.measure(stage, plan.load))
                peak = max(peak, stage.memory())
            done = sum(one.operations for one in runs)
            CONSOLE.print(f"{done:,} requests, {stage.memory():.0f} MiB")
        _write(plan.name, report.of_memory(done, begin, stage.memory(), peak))
        stage.run("farthing", "verify")
        _tell(stage, runs)
    return not any_errors(runs)


def withstand(plan: Plan) -> bool:
    """Tell what a flood of one tenant costs another."""
    with _on_stage() as stage:
        calm = flood.settle(stage)
        flood.measure(stage, Load(_WARM_UP_SECONDS), calm)
        rounds = [flood.measure(stage, plan.load, calm) for _ in range(plan.rounds)]
        stage.run("farthing", "verify")
        _tell(stage, flood.measurements(rounds))
    text = flood.for_people(plan.load, rounds)
    CONSOLE.print(text, markup=False, soft_wrap=True)
    _write(plan.name, text)
    return not any_errors(flood.measurements(rounds))


def deliver(plan: Plan) -> bool:
    """Tell how many events are delivered while transfers make them, and how late."""
    load = plan.load
    pause = deliveries.pause_for(load.connections, deliveries.WANTED_EVENTS)
    with _on_stage() as stage, deliveries.receiving() as receiver:
        deliveries.subscribe(stage, receiver.ports)
        deliveries.measure(stage, receiver, Load(_WARM_UP_SECONDS), pause=pause)
        paced, full = (
            [deliveries.measure(stage, receiver, load, pause=one) for _ in range(plan.rounds)]
            for one in (pause, None)
        )
        stage.run("farthing", "verify")
        runs = [run.transfers for run in (*paced, *full)]
        _tell(stage, runs)
    text = deliveries.for_people(paced, full)
    CONSOLE.print(text, markup=False, soft_wrap=True)
    _write(plan.name, text)
    return not any_errors(runs) and not any(run.wrong for run in (*paced, *full))


def judge(plan: Plan) -> bool:
    """Tell what rules cost transfers."""
    with _on_stage() as stage:
        houses = [rules.settle(stage, number) for number in rules.NUMBERS]
        rounds = rules.measure(houses, plan.load, plan.rounds)
        stage.run("farthing", "verify")
        _tell(stage, rules.measurements(rounds))
    text = rules.for_people(rounds)
    CONSOLE.print(text, markup=False, soft_wrap=True)
    _write(plan.name, text)
    return not any_errors(rules.measurements(rounds))


def profile(plan: Plan) -> bool:
    """Tell where the time of the first chosen scenario goes."""
    scenario = plan.chosen()[0]
    with (
        _on_stage(sampled=True) as stage,
        Session(stage, plan.load, _STEPS_AROUND, CONSOLE) as session,
    ):
        session.warm_up([scenario])
        found = profiling.take(stage, scenario, plan.load)
        session.verify()
        _tell(stage, [found.measured])
    text = profiling.for_people(scenario.name, found)
    CONSOLE.print(text, markup=False, soft_wrap=True)
    report.write_json(found, _RESULTS / f"{plan.name}.json")
    _write(plan.name, text)
    return not any_errors([found.measured])


@contextmanager
def _on_stage(*, roomy: bool = False, sampled: bool = False) -> Iterator[Stage]:
    CONSOLE.print("Starting a fresh database, the service and its worker.")
    with (
        signals_interrupt(),
        set_up(roomy=roomy, sampled=sampled) as stage,
        undisturbed_end(),
    ):
        yield stage


def _write(name: str, text: str) -> None:
    (_RESULTS / f"{name}.md").write_text(text, "utf-8")


def _tell(stage: Stage, results: list[Measurement] | list[Result]) -> None:
    if any_errors(results):
        CONSOLE.print("This run failed: there were errors. The service said last:", style="red")
        CONSOLE.print(last_lines(stage.log), markup=False, soft_wrap=True)
    else:
        CONSOLE.print("No errors, and the books hold. The results are in bench/results.")
