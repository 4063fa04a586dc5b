"""Operations on elements of arrays that threads share: each is done as a whole, and in one order for all threads.

Called from Python they are plain ones. `pause` and `nap` are for threads that wait for others.
"""

from __future__ import annotations

import time

from gpusim.sm.records import Numbers, Word


def add(array: Numbers, index: int, amount: int) -> int:
    """Add to an element; return what it was before."""
    before = int(array[index])
    array[index] = before + amount
    return before


def load(array: Numbers, index: int) -> int:
    """Return an element."""
    return int(array[index])


def replace(array: Numbers, index: int, expected: Word, new: Word) -> bool:
    """Set an element to `new` if it is `expected`; tell whether it was."""
    same = bool(array[index] == expected)
    if same:
        array[index] = new
    return same


def pause() -> None:
    """Let the processor know that a thread looks at an element again and again; it keeps its core."""


def nap(microseconds: int) -> None:
    """Let others have the core for so long at least; compiled code does so without Python's lock."""
    time.sleep(microseconds / 1e6)
