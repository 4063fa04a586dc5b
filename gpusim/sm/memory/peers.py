"""Shared memory of the other blocks of a cluster, and addresses with the rank of a block in their top.

The blocks of a cluster have one slot on as many SMs that follow each other, so a rank's shared memory lies
`launch.peer` words behind that of the rank before it.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.rule import rule
from gpusim.sm.records import Sm
from isa.operands.windows import RANK_BITS


@rule
def shared_word(sm: Sm, slot: int, rank: np.int64) -> np.int64:
    """Return the index in the memory array of the first word of a rank's shared memory, in the cluster of that slot."""
    launch = sm.launch
    return np.int64(launch.shared_word + slot * launch.shared_words + (rank - launch.rank) * launch.peer)


@rule
def own(sm: Sm, address: np.int64) -> np.int64:
    """Return an address of shared memory without the block's own rank, which code for clusters puts into its top."""
    top = address >> RANK_BITS
    return address - (top << RANK_BITS) if top == sm.launch.rank else address
