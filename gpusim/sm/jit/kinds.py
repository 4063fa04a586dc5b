"""The types of a rule's parameters, for rules that are compiled by themselves."""

from __future__ import annotations

from typing import Annotated, Any

import numba
from numba import types

from gpusim.sm.state import sm as state
from gpusim.sm.state.recurrence import Recurrence
from gpusim.sm.state.row import decoded_t

Sm = Annotated[Any, numba.from_dtype(state.sm_t)]
Warp = Annotated[Any, numba.from_dtype(state.warp_t)]
Scheduler = Annotated[Any, numba.from_dtype(state.scheduler_t)]
Row = Annotated[Any, numba.from_dtype(decoded_t)]
Memory = Annotated[Any, types.Array(types.uint32, 1, "C")]
_ARRAYS = [types.Array(types.int64, 2 if name in ("kept", "notes", "watch") else 1, "C") for name in Recurrence._fields]
States = Annotated[Any, types.NamedTuple(_ARRAYS, Recurrence)]  # what fast-forward keeps
