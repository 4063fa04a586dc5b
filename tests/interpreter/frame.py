"""The state of one block while it is interpreted: registers, predicates, shared and local memory of all its warps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.executing import clusters
from isa.executing.beyond import Beyond
from isa.kernel import Kernel
from isa.operands.operand import FIRST_UNIFORM, MACHINE_SPECIALS, PT_INDEX
from isa.operands.special import VIRTUAL_SM, VIRTUAL_WARP, fixed
from isa.program import WORD_BYTES

_OF_TIME = "CLOCKLO", "CLOCKHI", "GLOBALTIMERLO", "GLOBALTIMERHI"  # there is none here
PREDICATES = FIRST_UNIFORM + PT_INDEX


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Warps that execute together; `select` picks their rows (a slice if they are neighbours, for speed)."""

    members: tuple[int, ...]
    warps: NDArray[np.int64]  # the same
    select: Any  # slice or index array over the warps of the block
    live: NDArray[np.bool_]  # [warps, lanes]: the lanes that are threads of the block
    mask: NDArray[np.bool_] | None  # `live`, or None where every lane is
    lanes: int  # live lanes in all


@dataclass
class Copies:
    """A warp's copies that have not been waited for, each with its group, and the groups closed so far."""

    closed: int = 0
    waiting: list[tuple[int, NDArray[np.int64], NDArray[np.uint32]]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The state of a block, in arrays that are written in place; [.., warp, lane] unless said otherwise.

    `versions[r]` counts the writes to register r; `located[pc]` keeps the addresses that a memory instruction last
    used, with the version of its base register and the group, so that an unchanged base needs no new computation.
    """

    block: int
    memory: NDArray[np.uint32]  # global memory, 32-bit words
    registers: NDArray[np.uint32]  # [register, warp, lane]
    predicates: NDArray[np.bool_]  # [predicate, warp, lane], PT the last
    shared: NDArray[np.uint32]  # 32-bit words
    local: NDArray[np.uint32]  # 32-bit words, thread after thread
    local_words: int  # of one thread
    specials: Mapping[str, NDArray[np.uint32]]
    live: NDArray[np.bool_]
    counts: NDArray[np.int64]  # [pc] warp instructions
    active: NDArray[np.int64]  # [pc] thread instructions whose guard held
    versions: list[int]
    located: dict[int, tuple[int, Group, NDArray[np.uint32]]]
    reduced: NDArray[np.uint32]  # [warp] what its last BAR.RED found
    beyond: list[Beyond]  # loads behind buffers, also of the blocks before
    copies: list[Copies]  # of each warp


def new_frame(
    kernel: Kernel,
    block: int,
    memory: NDArray[np.uint32],
    counts: NDArray[np.int64],
    active: NDArray[np.int64],
    beyond: list[Beyond],
) -> Frame:
    """Return a block at its launch: all zero except its special registers; `memory` and `beyond` are of all blocks."""
    registers, warps, lanes = kernel.program.register_rows, kernel.warps, kernel.warp_size
    local_words = kernel.program.local_bytes // WORD_BYTES
    predicates = np.zeros((PREDICATES, warps, lanes), np.bool_)
    predicates[PT_INDEX] = True
    return Frame(
        block=block,
        memory=memory,
        registers=np.zeros((registers, warps, lanes), np.uint32),
        predicates=predicates,
        shared=np.zeros(kernel.program.shared_bytes // WORD_BYTES, np.uint32),
        local=np.zeros(warps * lanes * local_words, np.uint32),
        local_words=local_words,
        specials=specials(kernel, block),
        live=(np.arange(warps * lanes) < kernel.threads).reshape(warps, lanes),
        counts=counts,
        active=active,
        versions=[0] * registers,
        located={},
        reduced=np.zeros(warps, np.uint32),
        beyond=beyond,
        copies=[Copies() for _ in range(warps)],
    )


def specials(kernel: Kernel, block: int) -> dict[str, NDArray[np.uint32]]:
    """Return each special register as [warp, lane] in block number `block`; x runs fastest in threads and in blocks."""
    lanes = kernel.warp_size
    thread = np.arange(kernel.warps * lanes, dtype=np.uint32).reshape(-1, lanes)
    named: dict[str, Any] = {"LANEID": thread % lanes, "WARPID": thread // lanes}
    named |= _coordinates("TID", thread, kernel.block)
    named |= _coordinates("CTAID", np.uint32(block), kernel.grid)
    named |= {f"NTID.{axis}": np.uint32(size) for axis, size in zip("XYZ", kernel.block, strict=True)}
    named |= {f"NCTAID.{axis}": np.uint32(size) for axis, size in zip("XYZ", kernel.grid, strict=True)}
    named |= _masks(thread % lanes)
    named["CLUSTER_RANK"] = np.uint32(clusters.of_block(kernel, block)[1])
    named |= dict.fromkeys(_OF_TIME, np.uint32(0))
    named |= {"SMID": np.uint32(block % kernel.sms if kernel.sms else 0), "NSMID": np.uint32(kernel.sms)}
    named["VIRTID"] = named["WARPID"] << np.uint32(VIRTUAL_WARP) | named["SMID"] << np.uint32(VIRTUAL_SM)
    named |= {name: np.uint32(value) for name in MACHINE_SPECIALS if (value := fixed(kernel, name)) is not None}
    return {name: np.broadcast_to(value, thread.shape) for name, value in named.items()}


def group_of(frame: Frame, members: tuple[int, ...]) -> Group:
    """Return the group of these warps, in ascending order."""
    neighbours = members[-1] - members[0] + 1 == len(members)
    select = slice(members[0], members[-1] + 1) if neighbours else np.array(members)
    live = frame.live[select]
    whole = bool(live.all())
    return Group(members, np.array(members), select, live, None if whole else live, int(np.count_nonzero(live)))


def _masks(lane: NDArray[np.uint32]) -> dict[str, NDArray[np.uint32]]:
    """Return the masks of the lanes before and after each lane, as the PTX ISA names them."""
    own = np.uint32(1) << lane
    below = own - np.uint32(1)
    return {
        "LANEMASK_EQ": own,
        "LANEMASK_LT": below,
        "LANEMASK_LE": below | own,
        "LANEMASK_GT": ~(below | own),
        "LANEMASK_GE": ~below,
    }


def _coordinates(name: str, linear: Any, size: tuple[int, int, int]) -> dict[str, Any]:
    x, y, _ = size
    return {f"{name}.X": linear % x, f"{name}.Y": linear // x % y, f"{name}.Z": linear // (x * y)}
