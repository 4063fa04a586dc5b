"""Double precision shares the operand paths of both schedulers: while one issues it, the other may not.

`machine.exclusive` is the number of cycles from a DP issue in which the SM issues one instruction per slot: an issue
interval (Fermi, CUDA C Programming Guide 4.2, F.4.1), the whole latency, or none.
"""

from __future__ import annotations

from typing import Any

from gpusim.rule import rule


@rule
def earliest(sm: Any, k: int, double: int, now: int) -> int:
    """First slot at which scheduler k may issue beside the others: `now`, or the slot after theirs."""
    machine = sm.machine
    if machine.exclusive == 0 or not (double or now < sm.exclusive_until):
        return now
    for other in range(machine.schedulers):
        if other != k and now - sm.schedulers[other].issued_at < machine.interval:
            return now + machine.interval
    return now


@rule
def commit(sm: Any, now: int) -> None:
    """A DP instruction issues."""
    if sm.machine.exclusive:
        sm.exclusive_until = now + sm.machine.exclusive
