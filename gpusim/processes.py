"""Processes that work side by side, and end with the one that waits for them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children
from typing import Any

from gpusim.interruption import held_back
from isa.errors import UserError


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


@contextmanager
def processes(count: int, prepare: Callable[..., None] | None = None, *arguments: Any) -> Iterator[ProcessPoolExecutor]:
    """Give a pool of so many processes, no more than cores, in each of which `prepare(*arguments)` is called first.

    Left before its end, by Ctrl-C perhaps, it ends them at once, whatever they do; Ctrl-C again changes nothing.
    Raises UserError when one is killed.
    """
    pool = ProcessPoolExecutor(min(count, cores()), initializer=_start, initargs=(prepare, *arguments))
    try:
        with held_back():  # a new process has the handler of this one until `_start`
            pool.submit(int)
        yield pool
    except BrokenProcessPool:
        raise UserError("a process was killed, most likely for want of memory; ask for less at a time") from None
    except BaseException:
        with held_back():
            pool.shutdown(wait=False, cancel_futures=True)
            for child in active_children():
                child.terminate()
        raise
    pool.shutdown()


def _start(prepare: Callable[..., None] | None, *arguments: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the one that waits tells of Ctrl-C, the others die of it
    if prepare:
        prepare(*arguments)
