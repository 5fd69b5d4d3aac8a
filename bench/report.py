"""The report: the same table for the terminal, for people who read files, and for programs."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
from bench.load import Load
from bench.measurement import Measurement, Result, any_errors
from msgspec import Struct
from rich.table import Table

_HEADINGS: Final = ("load", "per second", "p50 ms", "p99 ms", "errors", "ratio to TPC-B")


class Report(Struct, frozen=True):
    """What was measured, when, how and on what."""

    date: str
    load: Load
    rounds: int
    machine: dict[str, str]
    results: list[Result]


def make(load: Load, rounds: int, machine: dict[str, str], results: list[Result]) -> Report:
    """Date a report."""
    return Report(datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), load, rounds, machine, results)


def cells(result: Result) -> tuple[str, ...]:
    """Return one line of the table."""
    return (
        result.name,
        f"{result.rate:,.0f}",
        f"{result.p50:.1f}",
        f"{result.p99:.1f}",
        str(result.errors),
        say_ratio(result),
    )


def say_ratio(result: Result) -> str:
    """Write the ratio, with its least and its most where there are several rounds."""
    least, most = min(result.ratios), max(result.ratios)
    spread = f" ({least:.2f} to {most:.2f})" if len(result.ratios) > 1 else ""
    return f"{result.ratio:.2f}{spread}"


def for_terminal(results: Sequence[Result]) -> Table:
    """Draw the table for a terminal."""
    table = Table()
    for number, heading in enumerate(_HEADINGS):
        table.add_column(heading, justify="right" if number else "left", no_wrap=number > 0)
    for result in results:
        table.add_row(*cells(result), style="red" if result.errors else None)
    return table


def for_people(report: Report, picture: str) -> str:
    """Write the report as Markdown."""
    lines = [
        "# The bench, latest run",
        "",
        *_markdown_table(report.results),
        "",
        f"![The ratios as bars]({picture})",
        "",
        f"- date: {report.date}",
        f"- load: {report.load.connections} connections, {report.load.seconds} seconds each",
        f"- rounds: {report.rounds}",
        *(f"- {name}: {value}" for name, value in report.machine.items()),
        "",
    ]
    if any_errors(report.results):
        lines.insert(2, "**This run failed: there were errors.**\n")
    return "\n".join(lines)


def _markdown_table(results: Sequence[Result]) -> list[str]:
    rule = ("---", *("---:" for _ in _HEADINGS[1:]))
    rows = (_HEADINGS, rule, *(cells(result) for result in results))
    return [f"| {' | '.join(row)} |" for row in rows]


def write_json(value: object, file: Path) -> None:
    """Write a report for programs."""
    file.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")


def of_sizes(
    few: int, beside_few: Sequence[Measurement], many: int, beside_many: Sequence[Measurement]
) -> str:
    """Return what the size of the tables does to the cost of an operation, in Markdown."""
    rates = [sum(one.rate for one in some) / len(some) for some in (beside_few, beside_many)]
    return "\n".join(
        [
            "# Creating cards beside few and beside many",
            "",
            "| cards there already | per second | p50 ms | p99 ms |",
            "| ---: | ---: | ---: | ---: |",
            *(
                f"| {size:,} | {rate:,.0f} | {some[0].p50:.1f} | {max(m.p99 for m in some):.1f} |"
                for size, rate, some in zip(
                    (few, many), rates, (beside_few, beside_many), strict=True
                )
            ),
            "",
            f"One card costs {rates[0] / rates[1]:.2f} times as much beside the many.",
            "",
        ]
    )


def of_memory(requests: int, begin: float, end: float, peak: float) -> str:
    """Return what the service held in memory, in Markdown."""
    return (
        "# The memory of one service\n\n"
        "| requests | at the start | at the end | at most |\n| ---: | ---: | ---: | ---: |\n"
        f"| {requests:,} | {begin:.0f} MiB | {end:.0f} MiB | {peak:.0f} MiB |\n"
    )
