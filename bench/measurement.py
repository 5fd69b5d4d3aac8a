"""Measurements and the arithmetic over them; nothing here runs anything."""

import math
from collections.abc import Sequence
from statistics import fmean

from msgspec import Struct


class Measurement(Struct, frozen=True, kw_only=True):
    """What one run of one load gave; times are in milliseconds."""

    rate: float
    p50: float
    p99: float
    operations: int
    errors: int = 0
    # Of a load whose requests belong together by twos: how many came to their end.
    pairs: int = 0


class Result(Struct, frozen=True, kw_only=True):
    """One line of the report: a load over all its rounds, beside the reference."""

    name: str
    rate: float
    p50: float
    p99: float
    errors: int
    ratios: list[float]
    # Per second, like the rate.
    pairs: float = 0.0

    @property
    def ratio(self) -> float:
        """How many times the reference's rate this is."""
        return fmean(self.ratios)


class Trial(Struct, frozen=True):
    """A run of a scenario with the reference as it was right before and right after."""

    before: Measurement
    measured: Measurement
    after: Measurement

    @property
    def ratio(self) -> float:
        """How many times the reference's rate this is; zero when the reference did nothing."""
        reference = fmean((self.before.rate, self.after.rate))
        return self.measured.rate / reference if reference else 0.0


class Point(Struct, frozen=True):
    """One scenario and the reference, each with the same number of connections."""

    connections: int
    measured: Measurement
    reference: Measurement

    @property
    def ratio(self) -> float:
        """How many times the reference's rate this is; zero when the reference did nothing."""
        return self.measured.rate / self.reference.rate if self.reference.rate else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of all values does not exceed."""
    if not values:
        return 0.0
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def summarise(name: str, runs: Sequence[Measurement], ratios: Sequence[float]) -> Result:
    """Sum the rounds of one load up: mean rate and median, worst tail, all errors."""
    return Result(
        name=name,
        rate=fmean(run.rate for run in runs),
        p50=fmean(run.p50 for run in runs),
        p99=max(run.p99 for run in runs),
        errors=sum(run.errors for run in runs),
        ratios=list(ratios),
        pairs=fmean(run.rate * run.pairs / max(1, run.operations) for run in runs),
    )


def summarise_trials(name: str, trials: Sequence[Trial]) -> Result:
    """Sum the rounds of one scenario up."""
    return summarise(name, [one.measured for one in trials], [one.ratio for one in trials])


def any_errors(results: Sequence[Measurement | Result]) -> bool:
    """Tell whether anything that was asked for did not happen."""
    return any(result.errors for result in results)
