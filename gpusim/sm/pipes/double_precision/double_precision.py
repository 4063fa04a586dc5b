"""Double precision shares the operand paths of both schedulers: while one issues it, the other may not.

`machine.exclusive` is the number of cycles from a DP issue in which the SM issues one instruction per slot: an issue
interval (Fermi, CUDA C Programming Guide 4.2, F.4.1), the whole latency, or none.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import rule
from gpusim.sm.records import Sm


@rule
def alone(sm: Sm, double: int, now: int) -> bool:
    """Tell whether an instruction, DP or not, may be the only one that the SM issues in this slot."""
    return sm.machine.exclusive != 0 and (double != 0 or now < sm.exclusive_until)


@rule
def earliest(sm: Sm, k: int, double: int, now: int) -> int:
    """Return the first slot at which scheduler k may issue beside the others: `now`, or the slot after theirs."""
    machine = sm.machine
    if not alone(sm, double, now):
        return now
    for other in range(machine.schedulers):
        if other != k and now - sm.schedulers[other].issued_at < machine.interval:
            return now + machine.interval
    return now


@rule
def commit(sm: Sm, now: int) -> None:
    """Note that a DP instruction issues."""
    if sm.machine.exclusive:
        sm.exclusive_until = now + sm.machine.exclusive
