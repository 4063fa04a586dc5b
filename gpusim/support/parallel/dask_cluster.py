"""Work on a running Dask cluster, for jobs that are too large for one computer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from typing import Any, TypeVar

from gpusim.support.parallel.processes import AHEAD
from isa.errors import UserError
from isa.reading import extra

PATIENCE = 30  # seconds for the scheduler to answer, and to have a worker
J = TypeVar("J")
R = TypeVar("R")


def as_done(function: Callable[[J], R], jobs: Iterable[J], address: str) -> Generator[R, None, None]:
    """Give what the function returns for each job, in any order, from the workers of the scheduler at an address.

    Another worker repeats the jobs of a lost one, and each result is given once. Workers may come and go. Raises
    UserError if no scheduler answers or it is lost, there is no worker, workers have another version of gpusim, or
    several in succession are lost at one job.
    """
    distributed = extra.module("distributed", "dask")
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # its logged errors are raised here
    rest = iter(jobs)
    with _client(distributed, address) as client:
        wanted = _wanted(client, address)
        going = distributed.as_completed(_submitted(client, function, rest, wanted))
        for future in going:
            yield _result(distributed, future, address)
            if going.count() <= wanted // 2:
                wanted = _wanted(client, address)
                going.update(_submitted(client, function, rest, wanted - going.count()))


def _client(distributed: Any, address: str) -> Any:
    """A client of the scheduler there, whose workers are checked."""
    try:
        client = distributed.Client(address, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise UserError(f"--dask {address}: no scheduler answers ({error}); start one with `dask scheduler`") from None
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
        found = set(client.run(version, "gpusim").values())
    except TimeoutError:
        client.close()
        raise UserError(f"--dask {address}: no worker is there; start some with `dask worker {address}`") from None
    except PackageNotFoundError:
        client.close()
        raise UserError(f"--dask {address}: a worker has no gpusim; install it where that runs") from None
    if found != {version("gpusim")}:
        client.close()
        raise UserError(f"--dask {address}: workers have gpusim {', '.join(sorted(found))}, not {version('gpusim')}")
    return client


def _wanted(client: Any, address: str) -> int:
    """The number of jobs that keep all threads of the workers busy for a while."""
    try:
        threads: dict[str, int] = client.nthreads()
    except OSError:
        raise _lost(address) from None
    return AHEAD * max(1, sum(threads.values()))


def _submitted(client: Any, function: Callable[[J], R], rest: Iterator[J], count: int) -> list[Any]:
    """The futures of up to `count` further jobs."""
    return [client.submit(function, job, pure=False) for job in islice(rest, max(0, count))]


def _result(distributed: Any, future: Any, address: str) -> Any:
    try:
        return future.result()
    except distributed.KilledWorker as error:
        raise UserError(f"workers were lost one after another, most likely for want of memory: {error}") from None
    except CancelledError:  # by the client, as soon as its connection breaks
        raise _lost(address) from None


def _lost(address: str) -> UserError:
    return UserError(f"--dask {address}: the scheduler was lost; start it again, then resume with --out DIR")
