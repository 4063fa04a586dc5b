"""The types of a rule's parameters, for rules that are compiled by themselves."""

from __future__ import annotations

from typing import Any

from numba import types

from gpusim.sm.jit.compiler.records import record_type
from gpusim.sm.records import Feed, Memory, Row, Scheduler, Sm, Warp
from gpusim.sm.state.recurrence import Recurrence

_ARRAYS = [
    types.Array(types.int64, 2 if name in ("later", "kept", "notes", "watch") else 1, "C")
    for name in Recurrence._fields
]
KINDS: dict[type, Any] = {  # by the class that stands for it in annotations
    int: types.int64,
    bool: types.boolean,
    type(None): types.none,
    Sm: record_type("sm"),
    Warp: record_type("warp"),
    Scheduler: record_type("scheduler"),
    Row: record_type("row"),
    Feed: record_type("feed"),
    Memory: types.Array(types.uint32, 1, "C"),
    Recurrence: types.NamedTuple(_ARRAYS, Recurrence),
}
