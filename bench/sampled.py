"""The service with a sampler inside: `python -m bench.sampled serve`.

From SIGUSR1 to SIGUSR2 it notes what the process is at whenever it has used a little more of a
processor, and then writes each stack with its count to the file that BENCH_SAMPLES names.
"""

import os
import signal
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Final

import msgspec

from farthing.cli import main

_EVERY: Final = 0.001
_ROOTS: Final = ("/lib/", "/site-packages/", "/src/")


def name(code: CodeType) -> str:
    """Say where a function is, from the package on."""
    path = code.co_filename
    for root in _ROOTS:
        path = path.rpartition(root)[2]
    return f"{path}:{code.co_qualname}"


class Sampler:
    """Counts the stacks."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._stacks: Counter[tuple[CodeType, ...]] = Counter()

    def begin(self, *_: object) -> None:
        """Begin anew."""
        self._stacks.clear()
        signal.signal(signal.SIGPROF, self._note)
        signal.setitimer(signal.ITIMER_PROF, _EVERY, _EVERY)

    def end(self, *_: object) -> None:
        """Write what was seen."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        seen = [(count, [name(one) for one in stack]) for stack, count in self._stacks.items()]
        new = self._file.with_suffix(".new")
        new.write_bytes(msgspec.json.encode(seen))
        new.replace(self._file)

    def _note(self, _: int, frame: FrameType | None) -> None:
        stack = []
        while frame is not None:
            stack.append(frame.f_code)
            frame = frame.f_back
        self._stacks[tuple(stack)] += 1


if __name__ == "__main__":
    sampler = Sampler(Path(os.environ["BENCH_SAMPLES"]))
    signal.signal(signal.SIGUSR1, sampler.begin)
    signal.signal(signal.SIGUSR2, sampler.end)
    main()
