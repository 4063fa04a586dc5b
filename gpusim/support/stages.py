"""CPU seconds of a piece of work by stage.

Functions say of which stage they are; seconds are those of the calling thread, and of a stage within another the inner
one's alone. Nobody counts unless somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import thread_time

OTHER = "other"
Seconds = dict[str, float]
_SPENT: ContextVar[Seconds | None] = ContextVar("_SPENT", default=None)


@contextmanager
def counted() -> Iterator[Seconds]:
    """Give the CPU seconds of this block by stage, complete when it ends; what is of no stage is OTHER."""
    seconds: Seconds = {}
    token = _SPENT.set(seconds)
    try:
        with stage(OTHER):
            yield seconds
    finally:
        _SPENT.reset(token)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Count this block, or a function that this decorates, to a stage; stages within it count by themselves."""
    if (seconds := _SPENT.get()) is None:
        yield
        return
    before, start = sum(seconds.values()), thread_time()
    try:
        yield
    finally:
        spent = thread_time() - start - (sum(seconds.values()) - before)
        seconds[name] = seconds.get(name, 0.0) + spent
