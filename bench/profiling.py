"""Where the time of a request goes: processor time by process, and by function of the service."""

import os
import resource
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec
import psutil
from bench.load import BenchError, Load
from bench.measurement import Measurement
from bench.scenarios import Scenario
from bench.stage import Stage
from msgspec import Struct

# How often a stack was seen, and its functions, the innermost first.
Stack = tuple[int, list[str]]

_MOST: Final = 40
_PATIENCE: Final = 10.0
# Where no function of Python runs: the loop itself, the driver's own code, the kernel.
_LOOP: Final = "asyncio/runners.py:Runner.run"


class Profile(Struct, frozen=True):
    """What one measurement took, in seconds of a processor, and what the service was at."""

    measured: Measurement
    seconds: dict[str, float]
    stacks: list[Stack]


def take(stage: Stage, scenario: Scenario, load: Load) -> Profile:
    """Measure a scenario and watch what it takes."""
    before = _used(stage)
    with _sampling(stage):
        measured = scenario.measure(stage, load)
    after = _used(stage)
    seconds = {name: after[name] - before[name] for name in after}
    return Profile(measured, seconds, read(stage.samples))


def read(file: Path) -> list[Stack]:
    """Read what the sampler wrote."""
    deadline = time.monotonic() + _PATIENCE
    while not file.exists():
        if time.monotonic() > deadline:
            raise BenchError("The service wrote no samples.")
        time.sleep(0.05)
    return msgspec.json.decode(file.read_bytes(), type=list[Stack])


def shares(stacks: Sequence[Stack]) -> list[tuple[str, float, float]]:
    """Return each function with its own share of the samples, and that with all it calls."""
    own: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for count, functions in stacks:
        own[functions[0]] += count
        whole.update(dict.fromkeys(functions, count))
    total = own.total() or 1
    return [(name, own[name] / total, whole[name] / total) for name in whole]


def packages(stacks: Sequence[Stack]) -> list[tuple[str, float]]:
    """Return the share of each package, counting the functions that are its own."""
    found: defaultdict[str, float] = defaultdict(float)
    for name, own, _ in shares(stacks):
        found[_package(name)] += own
    return sorted(found.items(), key=lambda one: -one[1])


def _package(name: str) -> str:
    if name == _LOOP:
        return "the loop, the driver's C code, the kernel"
    parts = name.partition(":")[0].split("/")
    if parts[0] == "farthing":
        return "/".join(parts[:2])
    return "Python" if parts[0].startswith(("python3", "<")) else parts[0]


def for_people(name: str, profile: Profile) -> str:
    """Write a profile as Markdown."""
    measured, found = profile.measured, shares(profile.stacks)
    each = 1000 / max(1, measured.operations)
    samples = sum(count for count, _ in profile.stacks)
    by_own = sorted(found, key=lambda one: -one[1])[:_MOST]
    # Whatever is in every stack says nothing.
    by_whole = sorted((one for one in found if one[2] < 1), key=lambda one: -one[2])[:_MOST]
    lines = [
        f"# Where the time goes: {name}",
        "",
        f"{measured.rate:,.0f} requests per second, {measured.errors} errors, {samples:,} samples.",
        "",
        *_table("process", "processor ms per request", [
            f"| {one} | {seconds * each:.3f} |" for one, seconds in profile.seconds.items()
        ]),
        *_table("package of the service", "share", [
            f"| {one} | {share:.1%} |" for one, share in packages(profile.stacks)
        ]),
        *_table("function by its own time", "own | with what it calls", _rows(by_own)),
        *_table("function with what it calls", "own | with what it calls", _rows(by_whole)),
    ]  # fmt: skip
    return "\n".join(lines)


def _table(first: str, others: str, rows: list[str]) -> list[str]:
    rule = "---" + " | ---:" * (1 + others.count("|"))
    return [f"| {first} | {others} |", f"| {rule} |", *rows, ""]


def _rows(found: Sequence[tuple[str, float, float]]) -> list[str]:
    return [f"| `{name}` | {own:.1%} | {whole:.1%} |" for name, own, whole in found]


@contextmanager
def _sampling(stage: Stage) -> Iterator[None]:
    stage.samples.unlink(missing_ok=True)
    os.kill(stage.service_id, signal.SIGUSR1)
    yield
    os.kill(stage.service_id, signal.SIGUSR2)


def _used(stage: Stage) -> dict[str, float]:
    """Return what each part has used of a processor since it started."""
    service = psutil.Process(stage.service_id).cpu_times()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    family = psutil.Process().children(recursive=True)
    servers = [one.cpu_times() for one in family if one.name().startswith("postgres")]
    return {
        "service, in user mode": service.user,
        "service, in the kernel": service.system,
        "PostgreSQL": sum(sum(times[:4]) for times in servers),
        "wrk": children.ru_utime + children.ru_stime,
    }
