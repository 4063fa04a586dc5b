"""Value functions of cross-lane instructions: the result depends on other lanes of the warp.

`across(a, b, c, active)` takes uint32 patterns and the lanes that take part, all [..., 32], and gives d of every lane;
a predicate arrives as 0 or 1 in the place of c. Lanes take part if their guard holds. In a warp of 64 lanes they reach
the 32 of their own half.
"""

# ruff: noqa: ARG001  (every function takes a, b, c and the active lanes; few need all four)
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

LANES = np.arange(32, dtype=np.uint32)
LAST = np.uint32(31)


def by_lane_group(across: Callable[..., Any], *given: Any) -> Any:
    """Return `across` of those operands and active lanes, all [warp, lane], in groups of 32 lanes."""
    return across(*(part.reshape(-1, len(LANES)) for part in given)).reshape(given[0].shape)


def shuffle_index(a: Any, b: Any, c: Any, active: Any) -> Any:
    """Return pattern a of lane b modulo 32."""
    return _of_lane(a, b & LAST, active)


def shuffle_butterfly(a: Any, b: Any, c: Any, active: Any) -> Any:
    """Return pattern a of the lane whose number is this lane's, exclusive or b modulo 32."""
    return _of_lane(a, LANES ^ (b & LAST), active)


def ballot(a: Any, b: Any, c: Any, active: Any) -> Any:
    """Return a word whose bit i is set if c is 1 in lane i."""
    return _in_every_lane(np.where(active, c << LANES, 0))


def total(a: Any, b: Any, c: Any, active: Any) -> Any:
    """Return the sum of a over the lanes, modulo 2**32."""
    return _in_every_lane(np.where(active, a, 0))


def _of_lane(a: Any, lane: Any, active: Any) -> Any:
    """Return pattern a of that lane; if that lane is inactive, the lane's own (PTX shfl leaves it undefined)."""
    there = lane.astype(np.int64)
    return np.where(np.take_along_axis(active, there, -1), np.take_along_axis(a, there, -1), a)


def _in_every_lane(parts: Any) -> Any:
    """Return the parts' sum, modulo 2**32."""
    whole = parts.sum(axis=-1, keepdims=True, dtype=np.uint32)
    return np.broadcast_to(whole, parts.shape)
