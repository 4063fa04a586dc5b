"""What rows get by their place: which are events, which ones a walk without time looks at, and the one behind all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.sm.lanes.convergence.declaration import LEAVE
from gpusim.sm.unit.opcodes import BRANCH, EXIT, FETCH, LOAD, STORE, UNIT_CODE
from isa.kernel import Kernel
from isa.operands.operand import PT_INDEX
from isa.row import Unit


def meetings(rows: NDArray[Any], points: Mapping[int, int]) -> None:
    """Note where lanes may diverge, and that a warp may go elsewhere where they meet and where they exit."""
    rows["reconvergence"] = -1
    if not points:
        return
    rows["reconvergence"][list(points)] = list(points.values())
    rows["eventful"] = rows["action"] == EXIT
    rows["eventful"][[pc - 1 for pc in points.values()]] = 1


def visits(rows: NDArray[Any]) -> None:
    """Note which outcomes depend on values, and for each pc the next one that a walk without time looks at."""
    told = (rows["guard"] != PT_INDEX) | (rows["guard_negated"] != 0) | (rows["steers"] != 0) | (rows["distinct"] != 0)
    rows["eventful"] |= told | np.isin(rows["action"], (LOAD, STORE, FETCH, BRANCH))
    lead(rows, (rows["eventful"] == 1) | (rows["evaluate"] == 1) | (rows["action"] == EXIT))


def lead(rows: NDArray[Any], wanted: NDArray[np.bool_]) -> None:
    """Note for each pc the next one that is wanted, itself if it is; the last must be."""
    places = np.flatnonzero(wanted)
    rows["visit"] = places[np.searchsorted(places, np.arange(len(rows)))]


def end(row: Any, kernel: Kernel, missing: Sequence[str]) -> None:
    """Fill in the row behind the program's end, which exits and names nothing: not the `missing` fields either."""
    row["steers"] = LEAVE if kernel.program.has_independent_lanes else 0
    row["action"], row["guard"], row["unit"] = EXIT, PT_INDEX, UNIT_CODE[Unit.CONTROL]
    row["stays_behind"] = 1
    for name in ("pipe", "counter", "most", *missing):
        row[name] = -1
    row["read_barrier"], row["write_barrier"] = -1, -1
