"""The pictures: ratios as bars, and the rate over the number of connections."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from bench.measurement import Point, Result
from matplotlib import pyplot as plt

mpl.use("Agg")

_OURS: Final = "#2a6f97"
_REFERENCE: Final = "#9aa5b1"
# The label covers the line at 1.0 where they meet, so that its digits stay readable.
_COVER: Final = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}


def draw_ratios(results: Sequence[Result], file: Path) -> None:
    """Draw each load's rate as a multiple of the reference's."""
    figure, axes = plt.subplots(figsize=(9, 1.2 + 0.75 * len(results)), layout="constrained")
    ratios = [result.ratio for result in results]
    colours = [_REFERENCE, *([_OURS] * (len(results) - 1))]
    axes.barh([result.name for result in results], ratios, color=colours, height=0.6)
    for row, result in enumerate(results):
        _label(axes, row, result)
    axes.axvline(1.0, color="black", linewidth=1, linestyle="--")
    axes.invert_yaxis()
    axes.set_xlim(0, 1.3 * max(1.0, *(max(result.ratios) for result in results)))
    axes.set_xlabel("operations per second, as a multiple of pgbench's TPC-B on the same server")
    _save(figure, file)


def _label(axes: Any, row: int, result: Result) -> None:
    """Write the value behind the bar, and mark each round by a dot."""
    if len(result.ratios) > 1:
        axes.plot(result.ratios, [row] * len(result.ratios), "o", color="black", markersize=3)
    text = f"{result.ratio:.2f}  ({result.rate:,.0f}/s)"
    axes.annotate(
        text,
        (max(result.ratios), row),
        xytext=(8, 0),
        textcoords="offset points",
        va="center",
        fontweight="bold",
        bbox=_COVER,
    )


def draw_sweep(name: str, points: Sequence[Point], file: Path) -> None:
    """Draw rate and times over the number of connections, beside the reference's."""
    figure, (above, below) = plt.subplots(2, 1, figsize=(9, 7), sharex=True, layout="constrained")
    numbers = [point.connections for point in points]
    lines = (
        (name, _OURS, [point.measured for point in points]),
        ("pgbench TPC-B", _REFERENCE, [point.reference for point in points]),
    )
    for label, colour, runs in lines:
        above.plot(numbers, [run.rate for run in runs], "o-", color=colour, label=label)
        below.plot(numbers, [run.p50 for run in runs], "o--", color=colour, label=f"{label}, p50")
        below.plot(numbers, [run.p99 for run in runs], "o-", color=colour, label=f"{label}, p99")
    above.set(ylabel="per second", ylim=(0, None))
    below.set(xlabel="connections", ylabel="milliseconds", yscale="log")
    below.set_xscale("log", base=2)
    below.set_xticks(numbers, [str(number) for number in numbers])
    below.yaxis.set_major_formatter("{x:g}")
    for axes in (above, below):
        axes.legend()
        axes.grid(alpha=0.3)
    _save(figure, file)


def _save(figure: Any, file: Path) -> None:
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=150)
    plt.close(figure)
