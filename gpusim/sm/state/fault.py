"""What ends a run at an instruction: one enum, which rules give to `stop` (gpusim/sm/account/stopping.py)."""

from __future__ import annotations

from enum import IntEnum


class Fault(IntEnum):
    """The kinds; no fault is 0, as in a record of zeros."""

    MISALIGNED = 1  # an address is no multiple of the access's width, or of `detail`
    OUTSIDE = 2  # it lies outside the memory that the instruction accesses
    MISCOUNTED = 3  # `detail` warps are to wait at a barrier where others wait for as many as `address`
    CROWDED = 4  # a warp has more results under way than are kept apart
    UNRECORDED = 5  # a block does what no recorded stream holds; it is run with values instead
    STUCK = 6  # the lanes of a warp all wait for each other
    NO_CODE = 7  # a branch to an address at which there is no instruction; `detail` are the lanes that branch
    TRAPPED = 8  # the program stops itself, in the lanes of `detail`
    NO_TEXTURE = 9  # a fetch by a handle that no texture object has
    WRONG_TEXTURE = 10  # a fetch of other dimensions than the texture's
    CONTESTED = 11  # another SM uses the word too, and SMs run ahead of each other
    LEFT_OUT = 12  # a lane at a WARPSYNC whose mask lacks it
    GONE_WITHIN = 13  # lanes exit within a collective
    MIXED = 14  # BARs of several kinds at one barrier
    SEVERAL = 15  # lanes name several barriers
    PART_OF_WARP = 16  # some lanes of a warp come to the barrier of their cluster without the others
    ARRIVED_TWICE = 17  # a warp arrives there again before it has waited
    SURPLUS = 18  # a barrier in shared memory gets more arrivals than are still to come
    OVERFLOW = 19  # or more bytes than it can count
    CLUSTERED = 20  # several blocks of a cluster are meant
    BAD_MAP = 21  # a tensor map says what the copy engine does not do; `detail` says why
    MISPLACED = 22  # the place of a copy or barrier in shared memory is no multiple of `detail`
    OUT_OF_SHARED = 23  # `detail` bytes of these are not in the block's shared memory
    UNEVEN = 24  # a box begins, along the first dimension, at element `address`, of `detail` bytes: no multiple of 16
    OUT_OF_BUFFERS = 25  # `detail` bytes of a copy are in no buffer
    BAD_BEGIN = 26  # a box, or pixels, do not begin at coordinate `address` of dimension `detail`
