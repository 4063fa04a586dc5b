"""Where the entries of the load/store unit's queues lie: one queue for the SM, or one for each scheduler."""

from __future__ import annotations

from typing import Any

from gpusim.rule import rule


@rule
def number(sm: Any, k: int) -> int:
    """Which queue scheduler k's instructions enter."""
    return k if sm.machine.queues > 1 else 0


@rule
def wrapped(sm: Any, place: int) -> int:
    """The place in the ring of entries; it is as long as the queue, so that equal states lie alike."""
    return place if place < sm.machine.queue else place - sm.machine.queue


@rule
def behind(sm: Any, y: int) -> int:
    """The place behind the last entry of queue y, which the next instruction takes."""
    queue = sm.load_store.queues[y]
    return wrapped(sm, queue.head + queue.count)
