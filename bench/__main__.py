"""`python -m bench`: measure the service beside pgbench's TPC-B on the same server."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer
from bench import machine, plot, report, wrk
from bench.load import BenchError, Load
from bench.measurement import any_errors
from bench.scenarios import ACCOUNT_CREATION, CARD_CREATION, READS, SCENARIOS, Scenario
from bench.session import Session
from bench.stage import Stage, last_lines, set_up
from msgspec import Struct
from rich.console import Console

from farthing.db.embedded import EmbeddedServerError

_RESULTS: Final = Path(__file__).parent / "results"
_CONSOLE: Final = Console(highlight=False)
_QUICK: Final = 3
_STOPS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_INTERRUPTED: Final = 130
# Warming up, and verifying the books at the end.
_STEPS_AROUND: Final = 2
_FEW_CARDS: Final = 1_000
_MANY_CARDS: Final = 1_000_000
_MANY_REQUESTS: Final = 1_000_000
_WARNING: Final = (
    "This machine is busy with other work. That slows one process down more than the many of "
    "pgbench, so expect ratios that are too low."
)
_CONNECTIONS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Plan(Struct, frozen=True):
    """What this run measures, and under which name it keeps the results."""

    name: str
    load: Load
    rounds: int
    scenarios: list[Scenario]


def main(
    seconds: Annotated[int, typer.Option(min=1, help="How long each measurement lasts.")] = 8,
    rounds: Annotated[int, typer.Option(min=1, help="How often each scenario is measured.")] = 2,
    only: Annotated[str, typer.Option(help="Only scenarios with this text in their name.")] = "",
    *,
    quick: Annotated[bool, typer.Option("--quick", help="One round of 3 seconds each.")] = False,
    large: Annotated[
        bool, typer.Option("--large", help="Create cards beside 1,000 and then 1,000,000 others.")
    ] = False,
    memory: Annotated[
        bool, typer.Option("--memory", help="Watch the service's memory over a million requests.")
    ] = False,
    connections: Annotated[
        bool, typer.Option("--connections", help="Open accounts with 1 to 256 connections.")
    ] = False,
) -> None:
    """Measure the service beside pgbench's TPC-B on the same server; about two minutes."""
    modes = {"connections": connections, "large": large, "memory": memory, "quick": quick}
    name = next((mode for mode, wanted in modes.items() if wanted), "latest")
    chosen = [one for one in SCENARIOS if only.lower() in one.name.lower()]
    plan = Plan(name, Load(_QUICK if quick else seconds), 1 if quick else rounds, chosen)
    raise typer.Exit(_run(plan))


def _run(plan: Plan) -> int:
    try:
        _check(plan)
        _RESULTS.mkdir(exist_ok=True)
        facts = machine.facts()
        if machine.is_busy(facts):
            _CONSOLE.print(_WARNING, style="yellow", soft_wrap=True)
        _CONSOLE.print("Starting a fresh database, the service and its worker.")
        with _signals_interrupt(), set_up() as stage, _undisturbed_end():
            return 0 if _measure(stage, plan, facts) else 1
    except (BenchError, EmbeddedServerError) as error:
        _CONSOLE.print(f"bench: {error}", style="red", markup=False, soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        _CONSOLE.print("Interrupted; everything that was started has stopped.")
        return _INTERRUPTED


def _check(plan: Plan) -> None:
    """Refuse what cannot work before anything heavy starts."""
    wrk.require()
    if not plan.scenarios:
        known = "; ".join(one.name for one in SCENARIOS)
        raise BenchError(f"No scenario has that text in its name. There are: {known}.")


def _measure(stage: Stage, plan: Plan, facts: dict[str, str]) -> bool:
    modes = {"connections": _sweep, "large": _compare_sizes, "memory": _watch_memory}
    mode = modes.get(plan.name)
    return mode(stage, plan) if mode else _compare(stage, plan, facts)


def _compare(stage: Stage, plan: Plan, facts: dict[str, str]) -> bool:
    # The reference is filled once, and runs once more often than the scenarios.
    steps = _STEPS_AROUND + 2 + 2 * plan.rounds * len(plan.scenarios)
    with Session(stage, plan.load, steps, _CONSOLE) as session:
        session.fill_reference()
        session.warm_up(plan.scenarios)
        results = session.compare(plan.scenarios, plan.rounds)
        session.verify()
    _CONSOLE.print(report.for_terminal(results))
    made = report.make(plan.load, plan.rounds, facts, results)
    report.write_json(made, _RESULTS / f"{plan.name}.json")
    plot.draw_ratios(results, _RESULTS / f"{plan.name}.png")
    (_RESULTS / f"{plan.name}.md").write_text(report.for_people(made, f"{plan.name}.png"), "utf-8")
    return _tell(stage, failed=any_errors(results))


def _sweep(stage: Stage, plan: Plan) -> bool:
    with Session(stage, plan.load, _STEPS_AROUND + len(_CONNECTIONS), _CONSOLE) as session:
        session.warm_up([ACCOUNT_CREATION])
        points = session.sweep(ACCOUNT_CREATION, _CONNECTIONS)
        session.verify()
    report.write_json(points, _RESULTS / f"{plan.name}.json")
    plot.draw_sweep(ACCOUNT_CREATION.name, points, _RESULTS / f"{plan.name}.png")
    return _tell(stage, failed=any_errors([point.measured for point in points]))


def _compare_sizes(stage: Stage, plan: Plan) -> bool:
    """Tell what the size of the tables does to the cost of a card."""
    with Session(stage, plan.load, 2 * plan.rounds + 2, _CONSOLE) as session:
        session.warm_up([CARD_CREATION])
        stage.fill_cards(_FEW_CARDS)
        few = [session.measure(CARD_CREATION) for _ in range(plan.rounds)]
        stage.fill_cards(_MANY_CARDS)
        session.warm_up([CARD_CREATION])
        many = [session.measure(CARD_CREATION) for _ in range(plan.rounds)]
    found = report.of_sizes(_FEW_CARDS, few, _MANY_CARDS, many)
    _CONSOLE.print(found)
    (_RESULTS / f"{plan.name}.md").write_text(found, "utf-8")
    return _tell(stage, failed=any_errors([*few, *many]))


def _watch_memory(stage: Stage, plan: Plan) -> bool:
    """Tell what the service holds in memory before and after a million requests, mostly reads."""
    begin, done, errors = stage.memory(), 0, 0
    peak = begin
    while done < _MANY_REQUESTS:
        for scenario in (ACCOUNT_CREATION, CARD_CREATION, READS, READS, READS, READS):
            part = scenario.measure(stage, plan.load)
            done, errors = done + part.operations, errors + part.errors
            peak = max(peak, stage.memory())
        _CONSOLE.print(f"{done:,} requests, {stage.memory():.0f} MiB")
    found = report.of_memory(done, begin, stage.memory(), peak)
    (_RESULTS / f"{plan.name}.md").write_text(found, "utf-8")
    return _tell(stage, failed=bool(errors))


def _tell(stage: Stage, *, failed: bool) -> bool:
    if failed:
        _CONSOLE.print("This run failed: there were errors. The service said last:", style="red")
        _CONSOLE.print(last_lines(stage.log), markup=False, soft_wrap=True)
    else:
        _CONSOLE.print("No errors, and the books hold. The results are in bench/results.")
    return not failed


@contextmanager
def _signals_interrupt() -> Iterator[None]:
    """Let every request to stop end in the same order as Ctrl-C."""
    for number in _STOPS:
        signal.signal(number, signal.default_int_handler)
    yield


@contextmanager
def _undisturbed_end() -> Iterator[None]:
    """Let no further signal disturb us while everything is stopped, which takes seconds."""
    try:
        yield
    finally:
        for number in _STOPS:
            signal.signal(number, signal.SIG_IGN)


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(main)
    app()
