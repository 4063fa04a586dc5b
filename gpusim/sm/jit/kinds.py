"""The types of a rule's parameters, for rules that are compiled by themselves."""

from __future__ import annotations

from typing import Annotated, Any

from numba import types

from gpusim.sm.jit.records import record_type
from gpusim.sm.state.recurrence import Recurrence

Sm = Annotated[Any, record_type("sm")]
Warp = Annotated[Any, record_type("warp")]
Scheduler = Annotated[Any, record_type("scheduler")]
Row = Annotated[Any, record_type("row")]
Memory = Annotated[Any, types.Array(types.uint32, 1, "C")]
_ARRAYS = [types.Array(types.int64, 2 if name in ("kept", "notes", "watch") else 1, "C") for name in Recurrence._fields]
States = Annotated[Any, types.NamedTuple(_ARRAYS, Recurrence)]  # what fast-forward keeps
