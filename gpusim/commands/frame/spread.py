"""Many simulations at a time: in processes of this computer, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from functools import partial
from typing import Protocol, TypeVar

from gpusim.support.parallel import dask_cluster
from gpusim.support.parallel.processes import as_done
from isa.errors import UserError

J = TypeVar("J")
R = TypeVar("R")


class Spread(Protocol):
    """What applies a function to each of some jobs, and gives the results in any order."""

    def __call__(self, function: Callable[[J], R], jobs: Iterable[J], /) -> Generator[R, None, None]:
        """Give the results as they come."""


def spread_over(jobs: int | None, dask: str) -> Spread:
    """Return what spreads jobs over so many processes, or over the cluster at an address; raises UserError for both."""
    if not dask:
        return partial(as_done, workers=jobs)
    if jobs:
        raise UserError(f"--jobs {jobs}: the cluster sets how many; leave it out with --dask")
    return partial(dask_cluster.as_done, address=dask)
