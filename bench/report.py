"""The report: the same table for the terminal, for people who read files, and for programs."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Final

import msgspec
from bench.growth import Growth
from bench.load import Load
from bench.measurement import Measurement, Point, Result, any_errors
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
        say_rate(result),
        f"{result.p50:.1f}",
        f"{result.p99:.1f}",
        str(result.errors),
        say_ratio(result),
    )


def say_rate(result: Result) -> str:
    """Write the rate of requests, and that of the pairs that they make."""
    return f"{result.rate:,.0f}" + (f" ({result.pairs:,.0f} pairs)" if result.pairs else "")


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
    growth: Growth, beside_few: Sequence[Measurement], beside_many: Sequence[Measurement]
) -> str:
    """Return what the size of the tables does to the cost of an operation, in Markdown."""
    runs = {growth.few: beside_few, growth.many: beside_many}
    rates = [fmean(one.rate for one in some) for some in runs.values()]
    return "\n".join(
        [
            f"# {growth.scenario.name}, beside few and beside many",
            "",
            f"| {growth.noun} there already | per second | p50 ms | p99 ms |",
            "| ---: | ---: | ---: | ---: |",
            *(
                f"| {size:,} | {rate:,.0f} | {fmean(m.p50 for m in some):.1f} | "
                f"{max(m.p99 for m in some):.1f} |"
                for (size, some), rate in zip(runs.items(), rates, strict=True)
            ),
            "",
            f"One request costs {rates[0] / rates[1]:.2f} times as much beside the many.",
            "",
        ]
    )


def of_sweep(name: str, points: Sequence[Point], picture: str) -> str:
    """Return rate and times over the number of connections, in Markdown."""
    heads = ("connections", *("per second", "p50 ms", "p99 ms", "errors") * 2, "ratio to TPC-B")
    rows = (
        (
            str(one.connections),
            *_figures(one.measured),
            *_figures(one.reference),
            f"{one.ratio:.2f}",
        )
        for one in points
    )
    return "\n".join(
        [
            f"# {name}, by the number of connections",
            "",
            "First our figures, then those of pgbench's TPC-B with as many clients, right before.",
            "",
            f"| {' | '.join(heads)} |",
            f"|{' ---: |' * len(heads)}",
            *(f"| {' | '.join(row)} |" for row in rows),
            "",
            f"![Rate and times over the number of connections]({picture})",
            "",
        ]
    )


def _figures(one: Measurement) -> tuple[str, ...]:
    return f"{one.rate:,.0f}", f"{one.p50:.1f}", f"{one.p99:.1f}", str(one.errors)


def of_memory(requests: int, begin: float, end: float, peak: float) -> str:
    """Return what the service held in memory, in Markdown."""
    return (
        "# The memory of one service\n\n"
        "| requests | at the start | at the end | at most |\n| ---: | ---: | ---: | ---: |\n"
        f"| {requests:,} | {begin:.0f} MiB | {end:.0f} MiB | {peak:.0f} MiB |\n"
    )
