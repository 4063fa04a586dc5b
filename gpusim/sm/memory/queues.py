"""Where the entries of the load/store unit's queues lie: one queue for the SM, or one for each scheduler.

If shared memory is separate (GCN), neighbouring schedulers share a queue to it, placed after those of the schedulers.
If constants are (`[constant_path]`), their unit serves the heads of the same queues.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.records import MachineNumbers, Sm


@rule
def number(sm: Sm, k: int, unit: int) -> int:
    """Return the queue that scheduler k's instructions of a unit class enter."""
    return _of_several(sm.machine, k, unit) if sm.machine.queues > 1 else 0


@rarely
def _of_several(machine: MachineNumbers, k: int, unit: int) -> int:
    return int(machine.schedulers + k // machine.sharing if machine.units[unit].apart else k)


@rule
def path(sm: Sm, y: int) -> int:
    """Return the unit that serves the head of queue y: 1 is that of shared memory or of constants, 2 of MATCH."""
    return _of_head(sm, y) if sm.machine.paths > 1 else 0


@rarely
def _of_head(sm: Sm, y: int) -> int:
    queue = sm.load_store.queues[y]
    return int(sm.program[queue.entries[queue.head].pc].path)


@rule
def wrapped(sm: Sm, place: int) -> int:
    """Return the place in the ring of entries, which is as long as the queue, so that equal states have equal words."""
    return place if place < sm.machine.queue else place - sm.machine.queue


@rule
def behind(sm: Sm, y: int) -> int:
    """Return the place after the last entry of queue y, which the next instruction takes."""
    queue = sm.load_store.queues[y]
    return wrapped(sm, queue.head + queue.count)
