"""Drafts of decoded rows: plain numbers by the name of their field, which become columns of an array all at once.

Filling in a dictionary takes less time than filling in a record of NumPy, which converts each number by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.sm.state.layout import fields
from gpusim.sm.state.row import decoded_t
from gpusim.sm.unit.declare import Role

Draft = dict[str, Any]  # a number, or a list of numbers for a field with several
_COUNTED = frozenset(one.name for one in fields("row") if one.role is Role.TOTAL)  # while the program runs
_SIZES = {
    name: int(np.prod(decoded_t[name].shape)) if decoded_t[name].shape else 0
    for name in decoded_t.names or ()
    if name not in _COUNTED
}
_BATCH = 256
_LISTS = tuple(name for name, size in _SIZES.items() if size)


def blank(missing: Sequence[str]) -> Draft:
    """Return a draft of zeros, and of -1 in the `missing` fields."""
    numbers = {name: -1 if name in missing else 0 for name in _SIZES}
    return {name: [numbers[name]] * size if size else numbers[name] for name, size in _SIZES.items()}


def copied(draft: Draft) -> Draft:
    """Return a draft with the same numbers, to be changed by itself."""
    found = draft.copy()
    for name in _LISTS:
        found[name] = draft[name].copy()
    return found


def batches(drafts: Iterable[Draft]) -> Iterator[tuple[int, list[Draft]]]:
    """Yield drafts some at a time, each time with the number of those before: many take much of the host's memory."""
    left, start = iter(drafts), 0
    while found := list(islice(left, _BATCH)):
        yield start, found
        start += len(found)


def fill(rows: NDArray[Any], drafts: Sequence[Draft]) -> None:
    """Fill in a row from each draft; raises OverflowError for a number that its field has no room for."""
    for name in _SIZES:
        column = [draft[name] for draft in drafts]
        rows[name] = np.array(column, decoded_t[name].base)
