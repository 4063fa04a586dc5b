"""Shared memory of the other blocks of a cluster, and addresses with the rank of a block in their top.

The blocks of a cluster have one slot on as many SMs that follow each other, so a rank's shared memory lies
`launch.peer` words behind that of the rank before it.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.rule import rule
from gpusim.sm.records import Sm
from isa.operands.windows import RANK_BITS
from isa.program import WORD_BYTES


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


@rule
def rank_of(sm: Sm, address: np.int64) -> np.int64:
    """Return the rank of the block in whose shared memory an address is; the block's own without clusters."""
    return address >> RANK_BITS if sm.launch.cluster > 1 else np.int64(sm.launch.rank)


@rule
def byte_of(sm: Sm, address: np.int64) -> np.int64:
    """Return an address without the rank of any block of the cluster; another one stays, beyond all memory."""
    top = address >> RANK_BITS
    return address - (top << RANK_BITS) if top < sm.launch.cluster else address


@rule
def word_at(sm: Sm, slot: int, address: np.int64) -> np.int64:
    """Return the index in the memory array of the word at an address of shared memory, of any block of the cluster."""
    return shared_word(sm, slot, rank_of(sm, address)) + byte_of(sm, address) // WORD_BYTES
