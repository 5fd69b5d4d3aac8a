"""Several processes behind one listening socket: as much of a machine as one asks for."""

import os
import signal
from collections.abc import Callable
from types import FrameType

import structlog

log = structlog.get_logger()


def run_beside_each_other(count: int, run: Callable[[], None]) -> None:
    """Run as many processes, until a signal stops all of them, or one of them ends by itself.

    Whoever supervises this process then starts everything anew: half a service is no service.
    """
    children = {_start(run) for _ in range(count)}
    stopping = False

    def stop(_: int, __: FrameType | None) -> None:
        nonlocal stopping
        stopping = True
        _tell(children)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    while children:
        process_id, status = os.wait()
        children.discard(process_id)
        if not stopping:
            stopping = True
            log.error("process_ended", process=process_id, code=os.waitstatus_to_exitcode(status))
            _tell(children)
            _wait_for(children)
            raise SystemExit(1)


def _start(run: Callable[[], None]) -> int:
    process_id = os.fork()
    if process_id == 0:
        # The child leaves only by this door: whatever the parent would clean up is the parent's.
        code = 1
        try:
            run()
            code = 0
        finally:
            os._exit(code)
    return process_id


def _tell(children: set[int]) -> None:
    for process_id in children:
        os.kill(process_id, signal.SIGTERM)


def _wait_for(children: set[int]) -> None:
    while children:
        children.discard(os.wait()[0])
