"""The machine's numbers as rules read them: each unit fills in its part of the record `machine`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.machine.machine import Machine
from gpusim.sm.front.policies.declaration import REGISTERED
from gpusim.sm.state.every import EVERY
from gpusim.sm.state.layout import fields, layout
from gpusim.sm.unit.structure import is_since_volta

_LAST: list[tuple[Machine, bool, NDArray[Any]]] = []  # a program launches many kernels on one machine
_MOST_KEPT = 4


def packed(machine: Machine, *, flagged: bool) -> Any:
    """Return the record of a machine's numbers; `flagged`: some source of the program is kept in the reuse cache."""
    for of, when, numbers in _LAST:
        if of is machine and when == flagged:
            (found,) = numbers.copy()
            return found
    numbers = np.zeros(1, layout("machine"))
    _pack(numbers[0], machine, flagged=flagged)
    _LAST[:] = [*_LAST[1 - _MOST_KEPT :], (machine, flagged, numbers)]
    (found,) = numbers.copy()
    return found


def _pack(packed: Any, machine: Machine, *, flagged: bool) -> None:
    for one in fields("machine"):
        if one.key:
            section, _, key = one.key.partition(".")
            given = getattr(machine, section)
            packed[one.name] = 0 if given is None else getattr(given, key)
    for unit in EVERY:
        unit.pack(packed, machine)
    if not flagged:
        packed.reuse = packed.reuse_shared = 0
    if machine.schedulers.policy in REGISTERED:
        from gpusim.sm.front.policies.policy_code import code_of  # noqa: PLC0415  (Numba takes long to load)

        packed.policy_code = code_of(machine.schedulers.policy)
    packed.since_volta = is_since_volta(packed)
