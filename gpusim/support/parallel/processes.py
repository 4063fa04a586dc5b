"""Parallel worker processes that end with the process that waits for them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import active_children, get_start_method, parent_process
from threading import Thread
from typing import Any, TypeVar

from gpusim.support.interruption import held_back
from isa.errors import UserError

AHEAD = 4  # jobs that wait for each process
_WORK: list[Callable[[Any], Any]] = []  # the last is the function of this worker process
J = TypeVar("J")
R = TypeVar("R")


def cores() -> int:
    """Return how many cores this process may use; all of them where the system can't tell (macOS)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def processes(count: int, prepare: Callable[..., None] | None = None, *arguments: Any) -> Iterator[ProcessPoolExecutor]:
    """Give a pool of so many processes, no more than cores, in each of which `prepare(*arguments)` is called first.

    If the block is left early, by Ctrl-C for example, or this process is killed, they end at once, whatever they do;
    a second Ctrl-C changes nothing. Raises UserError when one of them is killed, or when they can't start.
    """
    pool = ProcessPoolExecutor(min(count, cores()), initializer=_start, initargs=(prepare, *arguments))
    try:
        with held_back():  # a new process keeps this one's handler until `_start`
            ready = pool.submit(int)
        yield pool
    except BrokenProcessPool:
        pool.shutdown()  # the others end, and let go of the files that they were started with
        raise _broken(ready) from None
    except BaseException:
        with held_back():
            pool.shutdown(wait=False, cancel_futures=True)
            for child in active_children():
                child.terminate()
        raise
    pool.shutdown()


def as_done(function: Callable[[J], R], jobs: Iterable[J], workers: int | None = None) -> Generator[R, None, None]:
    """Give what the function returns for each job, in any order, from so many processes, at most one for each core.

    The first job is done here, so that the others find its compiled code. Raises UserError when a process is killed,
    once all finished results have been given.
    """
    workers, rest = min(workers or cores(), cores()), iter(jobs)
    yield from map(function, rest if workers == 1 else islice(rest, 1))
    if not (first := list(islice(rest, AHEAD * workers))):
        return
    with processes(min(workers, len(first)), _keep, function) as pool:
        going = {pool.submit(_work, job) for job in first}
        while going:
            done, going = wait(going, return_when=FIRST_COMPLETED)
            for each in sorted(done, key=lambda each: each.exception() is not None):
                yield each.result()
            going |= {pool.submit(_work, job) for job in islice(rest, len(done))}


def _broken(ready: Future[int]) -> UserError:
    """Return the error for processes that have ended; `ready` is the first thing that they were asked for."""
    if ready.done() and ready.exception() and get_start_method() != "fork":
        cause = f"no process starts by the method {get_start_method()}, which runs the script again in each"
        return UserError(f'{cause}; put what the script does under `if __name__ == "__main__":`')
    return UserError("a process was killed, most likely for want of memory; ask for less at a time")


def _keep(function: Callable[[Any], Any]) -> None:
    """Keep this process' function: a method of the list would go to a process of its own as a copy of the list."""
    _WORK.append(function)


def _work(job: Any) -> Any:
    """Call this process' function, which is sent only once as it may be large."""
    return _WORK[-1](job)


def _start(prepare: Callable[..., None] | None, *arguments: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the waiting process reports Ctrl-C, the workers die of it
    Thread(target=_end_with_parent, daemon=True).start()
    if prepare:
        prepare(*arguments)


def _end_with_parent() -> None:
    """End this process when its parent is gone, perhaps killed; else it would wait for work forever."""
    if parent := parent_process():
        parent.join()
        os._exit(1)
