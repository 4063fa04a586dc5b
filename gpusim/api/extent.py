"""Grids, blocks and clusters as programs give them: a number, or one to three of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from isa.errors import UserError
from isa.kernel import Dim3
from isa.nvidia.abi.launch import extent as padded

Size = int | Sequence[int]


def extent(what: str, size: Size) -> Dim3:
    """Return a grid, block or cluster, as `what` calls it, in x, y and z; raises UserError for what is none."""
    sizes = [size] if isinstance(size, int | np.integer) or not isinstance(size, Iterable) else list(size)
    if not all(isinstance(one, int | np.integer) for one in sizes):
        raise UserError(f"{what}={size!r}: give one to three whole numbers")
    try:
        return padded([int(one) for one in sizes])
    except ValueError as error:
        raise UserError(f"{what}={size!r}: {error}") from None
