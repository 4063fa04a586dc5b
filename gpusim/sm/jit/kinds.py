"""The Numba types of a rule's parameters, for rules that are compiled by themselves."""

from __future__ import annotations

from typing import Any

import numba
from numba import types

from gpusim.sm.records import Memory, Row, Scheduler, Sm, Warp
from gpusim.sm.state import sm as state
from gpusim.sm.state.recurrence import Recurrence
from gpusim.sm.state.row import decoded_t

_ARRAYS = [types.Array(types.int64, 2 if name in ("kept", "notes", "watch") else 1, "C") for name in Recurrence._fields]
KINDS: dict[type, Any] = {  # by the class that stands for it in annotations
    int: types.int64,
    bool: types.boolean,
    type(None): types.none,
    Sm: numba.from_dtype(state.sm_t),
    Warp: numba.from_dtype(state.warp_t),
    Scheduler: numba.from_dtype(state.scheduler_t),
    Row: numba.from_dtype(decoded_t),
    Memory: types.Array(types.uint32, 1, "C"),
    Recurrence: types.NamedTuple(_ARRAYS, Recurrence),
}
