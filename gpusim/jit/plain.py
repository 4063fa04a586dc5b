"""The rules without a compiler: the same source as plain Python, on plain namespaces instead of records.

This serves analyses that call a rule a few hundred times and must not wait for its compilation.
"""

from __future__ import annotations

import dis
from collections.abc import Callable
from functools import cache
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np


@cache
def plain(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Return the rule, and every rule that it calls, as a Python function that never compiles."""
    source: Any = getattr(rule, "py_func", rule)
    names = {i.argval for i in dis.get_instructions(source) if i.opname == "LOAD_GLOBAL"} & source.__globals__.keys()
    namespace = {**source.__globals__, **{name: _plain(source.__globals__[name]) for name in names}}
    return FunctionType(source.__code__, namespace, source.__name__, source.__defaults__, source.__closure__)


def unpacked(record: Any) -> SimpleNamespace:
    """Return a copy of a record as a namespace: numbers as integers, rows of numbers as lists, tables as arrays."""
    return SimpleNamespace(**{name: _unpacked(record[name]) for name in record.dtype.names})


class _PlainModule:
    """A module of rules, each of which is made plain when it is first asked for."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        return _plain(getattr(self.module, name))


def _plain(value: Any) -> Any:
    if hasattr(value, "py_func"):
        return plain(value)
    ours = isinstance(value, ModuleType) and value.__name__.startswith("gpusim.")
    return _PlainModule(value) if ours else value


def _unpacked(value: Any) -> Any:
    if value.dtype.names and value.ndim == 0:
        return unpacked(value)
    if value.ndim == 0:
        return int(value)
    return value.tolist() if value.ndim == 1 and not value.dtype.names else np.array(value)
