"""`farthing verify`: recompute everything that can be recomputed, and compare."""

from typing import Any, Final

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from farthing.catalog import CHECKS
from farthing.db.checks import Finding, run_checks

MOST_SHOWN: Final = 10


async def verify(url: str, console: Console) -> bool:
    """Run every check with progress, print the first discrepancies, and tell whether all hold."""
    columns = (
        SpinnerColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    failed: list[Finding] = []
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(CHECKS[0].sentence, total=len(CHECKS))
        done = 0
        async for finding in run_checks(url, CHECKS, MOST_SHOWN):
            done += 1
            following = CHECKS[done].sentence if done < len(CHECKS) else "Done."
            progress.update(task, completed=done, description=following)
            if finding.discrepancies:
                failed.append(finding)
    _report(failed, console)
    return not failed


def _report(failed: list[Finding], console: Console) -> None:
    for finding in failed:
        console.print(f"[red]NOT TRUE:[/red] {finding.check.sentence}")
        for discrepancy in finding.discrepancies:
            console.print(f"  {_line(discrepancy)}", highlight=False)
    if not failed:
        console.print(f"All {len(CHECKS)} checks hold: every farthing is accounted for.")


def _line(discrepancy: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in discrepancy.items())
