"""`python -m bench`: measure the service beside pgbench's TPC-B on the same server."""

from collections.abc import Callable
from typing import Annotated, Final

import typer
from bench import machine, modes, wrk
from bench.load import BenchError, Load
from bench.modes import CONSOLE, Plan

from farthing.db.embedded import EmbeddedServerError

_QUICK: Final = 3
_INTERRUPTED: Final = 130
_WARNING: Final = (
    "This machine is busy with other work. That slows one process down more than the many of "
    "pgbench, so expect ratios that are too low."
)
_MODES: Final[dict[str, Callable[[Plan], bool]]] = {
    "profile": modes.profile,
    "connections": modes.sweep,
    "large": modes.compare_sizes,
    "memory": modes.watch_memory,
    "flood": modes.withstand,
    "deliveries": modes.deliver,
    "rules": modes.judge,
    "quick": modes.compare,
}


def main(  # noqa: PLR0913 - each is an option of the command line
    seconds: Annotated[int, typer.Option(min=1, help="How long each measurement lasts.")] = 8,
    rounds: Annotated[int, typer.Option(min=1, help="How often each scenario is measured.")] = 2,
    only: Annotated[str, typer.Option(help="Only scenarios with this text in their name.")] = "",
    *,
    quick: Annotated[bool, typer.Option("--quick", help="One round of 3 seconds each.")] = False,
    large: Annotated[
        bool,
        typer.Option("--large", help="Cards and transfers beside few others and 1,000,000."),
    ] = False,
    memory: Annotated[
        bool, typer.Option("--memory", help="Watch the service's memory over a million requests.")
    ] = False,
    connections: Annotated[
        bool,
        typer.Option("--connections", help="Transfers and TPC-B with 1 to 256 connections."),
    ] = False,
    flood: Annotated[
        bool, typer.Option("--flood", help="What a flood of one tenant costs another.")
    ] = False,
    deliveries: Annotated[
        bool, typer.Option("--deliveries", help="How late events reach a receiver under load.")
    ] = False,
    rules: Annotated[
        bool, typer.Option("--rules", help="Transfers beside no rule, ten, and a hundred.")
    ] = False,
    profile: Annotated[
        str, typer.Option(help="Tell where the time of the scenario with this text goes.")
    ] = "",
) -> None:
    """Measure the service beside pgbench's TPC-B on the same server."""
    asked = {
        "profile": bool(profile),
        "connections": connections,
        "large": large,
        "memory": memory,
        "flood": flood,
        "deliveries": deliveries,
        "rules": rules,
        "quick": quick,
    }
    name = next((mode for mode, wanted in asked.items() if wanted), "latest")
    load = Load(_QUICK if quick else seconds)
    times = 1 if quick else rounds
    raise typer.Exit(_run(Plan(name, load, times, profile or only, machine.facts())))


def _run(plan: Plan) -> int:
    try:
        # Refuse what cannot work before anything heavy starts.
        wrk.require()
        if plan.name != "large":
            plan.chosen()
        if machine.is_busy(plan.machine):
            CONSOLE.print(_WARNING, style="yellow", soft_wrap=True)
        return 0 if _MODES.get(plan.name, modes.compare)(plan) else 1
    except (BenchError, EmbeddedServerError) as error:
        CONSOLE.print(f"bench: {error}", style="red", markup=False, soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        CONSOLE.print("Interrupted; everything that was started has stopped.")
        return _INTERRUPTED


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(main)
    app()
