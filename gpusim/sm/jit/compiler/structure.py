"""Compiled form of `gpusim.sm.jit.structure`: the same record, under a type that knows some numbers."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic, lower_cast, overload

from gpusim.sm.jit.compiler.records import Record, record_type
from gpusim.sm.jit.structure import since_volta


@intrinsic
def _known(_typing: Any, sm: Any) -> Any:
    def generate(_context: Any, _builder: Any, _signature: Any, given: Any) -> Any:
        return given[0]

    return record_type("sm", known=True)(sm), generate


@lower_cast(Record, Record)
def _cast(_context: Any, _builder: Any, _from: Any, _to: Any, record: Any) -> Any:
    return record


# An overload is a function of types that returns the function to compile: here one lambda inside the other.
overload(since_volta)(lambda sm: lambda sm: _known(sm))  # noqa: ARG005, PLW0108
