"""Arithmetic pipes: a warp instruction occupies its pipe for warp size / lanes cycles, its initiation interval.

A pipe has an instance for each group of neighbouring schedulers that share one. If several pipes execute a unit class,
the first free one takes the instruction, which waits only while all are busy. A joint pipe is one that the class needs
beside its own; a blocked pipe takes nothing for an initiation interval after the cycle of issue.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.records import Pipe, Row, Sm, UnitNumbers


@rule
def instance(sm: Sm, k: int, pipe: int) -> Pipe:
    """Return the pipe that scheduler k's warps use: its own, or a shared one."""
    return sm.pipes[sm.machine.instance[k, pipe], pipe]


@rule
def earliest(sm: Sm, k: int, needs: UnitNumbers) -> int:
    """Return the first cycle at which a pipe takes the next warp instruction of the unit class."""
    return instance(sm, k, needs.choice[0]).free if needs.single_pipe else _first_free(sm, k, needs)


@rarely
def _first_free(sm: Sm, k: int, needs: UnitNumbers) -> int:
    first = NEVER
    for i in range(needs.choices):
        first = min(first, instance(sm, k, needs.choice[i]).free)
    return max(first, instance(sm, k, needs.joint).free) if needs.joint >= 0 else first


@rule
def commit(sm: Sm, k: int, instruction: Row, now: int, least: int) -> int:
    """Let a warp instruction take the first free pipe of its class, for at least `least` cycles; return which one."""
    needs = sm.machine.units[instruction.unit]
    pipe = needs.choice[0] if needs.single_pipe else _chosen(sm, k, needs, now)
    taken, cycles = instance(sm, k, pipe), max(interval(sm, pipe) * instruction.intervals, least)
    taken.free = now + cycles
    taken.busy += cycles
    if not needs.single_pipe:
        _others(sm, k, needs, now, cycles)
    return int(pipe)


@rarely
def _others(sm: Sm, k: int, needs: UnitNumbers, now: int, cycles: int) -> None:
    """Occupy the joint pipe as long as the first one, and the blocked pipe after the issue."""
    if needs.joint >= 0:
        joint = instance(sm, k, needs.joint)
        joint.free = now + cycles
        joint.busy += cycles
    if needs.blocked >= 0:
        blocked = instance(sm, k, needs.blocked)
        blocked.free = max(blocked.free, now + 1 + cycles)


@rarely
def _chosen(sm: Sm, k: int, needs: UnitNumbers, now: int) -> int:
    for i in range(needs.choices - 1):
        if instance(sm, k, needs.choice[i]).free <= now:
            return int(needs.choice[i])
    return int(needs.choice[needs.choices - 1])


@rule
def interval(sm: Sm, pipe: int) -> int:
    """Return the cycles for which a warp instruction keeps the pipe from the next."""
    return int(sm.machine.pipe_interval[pipe])
