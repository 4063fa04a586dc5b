"""Operations on elements of arrays that threads share: each is done as a whole, and in one order for all threads.

Called from Python they are plain ones.
"""

from __future__ import annotations

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
