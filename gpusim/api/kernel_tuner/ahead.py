"""Points of a search space that several processes tune at a time, while results are taken in order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_start_method
from typing import Any

from gpusim.support.parallel.processes import AHEAD, processes
from isa.errors import UserError

Params = dict[str, Any]
_WORK = list[Callable[[Params], Any]]()  # the last is the function of this worker process


class Ahead:
    """Results of points, some of which processes already work on; `waiting` are those that none has yet."""

    def __init__(self, pool: ProcessPoolExecutor, waiting: Iterator[Params], window: int) -> None:
        """Hand the first points to the processes: `window` of them are under way at any time."""
        self.pool, self.waiting, self.found = pool, waiting, dict[Hashable, Future[Any]]()
        for _ in range(window):
            self._hand_on()

    @classmethod
    @contextmanager
    def of(cls, columns: Callable[[Params], Any], points: Iterator[Params], workers: int) -> Iterator[Ahead]:
        """Give the results of these points, which `columns` returns in so many processes.

        They are copies of this one, so that nothing of Kernel Tuner's has to be sent to them. Raises UserError where
        the system or the program wants other processes.
        """
        if get_start_method() != "fork":
            raise UserError(f"parallel: processes start by {get_start_method()} here; leave it out")
        sys.stdout.flush()  # else each process has a copy of what is not yet written
        with processes(workers, _WORK.append, columns) as pool:
            ahead = cls(pool, points, AHEAD * workers)
            yield ahead
            for one in ahead.found.values():
                one.cancel()

    def result(self, params: Params) -> Any:
        """Return the columns of a point, and let the processes go on."""
        self._hand_on()
        if (key := _key(params)) not in self.found:
            self._submit(params)
        return self.found[key].result()

    def _hand_on(self) -> None:
        if (params := next(self.waiting, None)) is not None:
            self._submit(params)

    def _submit(self, params: Params) -> None:
        self.found[_key(params)] = self.pool.submit(_work, params)


def _key(params: Params) -> Hashable:
    return tuple(map(str, params.values()))


def _work(params: Params) -> Any:
    return _WORK[-1](params)
