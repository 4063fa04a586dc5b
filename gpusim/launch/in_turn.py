"""Whether SMs of a chip may run ahead of each other, or must take turns in each cycle."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.machine.machine import Machine
from gpusim.sm.front.policies.declaration import REGISTERED
from gpusim.sm.memory.cache.declaration import tagged
from gpusim.sm.memory.lookahead.declaration import SEVERAL, UNITS
from gpusim.sm.pipes.load_store.declaration import queues
from isa.dataflow.memory.shared_places import shared_places
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES, Held, bases, length
from isa.operands.operand import Texture
from isa.program import WORD_BYTES
from isa.row import Unit

CONTESTED = "SMs use the same words of memory"
TAGGED = "SMs share the tags of the L2"
CLUSTERED = "blocks of a cluster meet"
UNTIMED = "time does not pass"


class InTurnError(Exception):
    """The run needs the order of cycles: it has come to a word that another SM uses, or to a fault."""


def reason(
    kernel: Kernel, machine: Machine, computed: NDArray[np.bool_], rows: Any, sms: int, *, trace: bool, defers: bool
) -> str:
    """Return why so many SMs must take turns, if those instructions are computed; empty if they may run ahead."""
    units = {instruction.row.unit for instruction in kernel.program.instructions}
    reasons = {
        CLUSTERED: kernel.cluster_blocks > 1,
        "a trace is kept": trace,
        "the policy is not gpusim's own": machine.schedulers.policy in REGISTERED,
        "texture fetches are counted": bool(machine.wait_counters) and Unit.TEXTURE in units,
        "who reads a result too early gets the value before it": defers,
        "accesses that may go to several memories are counted": bool(machine.wait_counters or machine.outstanding)
        and kernel.program.leaves_global,
        "the order of atomics matters": any(_is_atomic(one) for one in _computed(kernel, computed)),
        TAGGED: tagged(machine) and not asks_later(kernel, machine, rows, sms),
        "barriers in shared memory wait for copies": Unit.SYNC in units,
    }
    return next((why for why, holds in reasons.items() if holds), "")


def asks_later(kernel: Kernel, machine: Machine, rows: Any, sms: int) -> bool:
    """Tell whether SMs that keep tags may run ahead: what their loads lack in the L1 the chip asks the L2 for later.

    The others of their accesses take their turns. So must all where one SM stands for others, where stored lines wait
    in the L1, or where something else than loads waits for lines.
    """
    units = {instruction.row.unit for instruction in kernel.program.instructions}
    apart = units & {Unit.TEXTURE, Unit.LOCAL, Unit.SMEM, Unit.SYNC, Unit.WARPGROUP} or kernel.program.local_bytes
    other = (
        (rows["copies"] > 0).any()
        or rows["packets"].any()
        or rows["bulk"].any()
        or rows["fence"].any()
        or shared_places(kernel)
    )
    near = machine.l1 is not None and machine.l1.global_loads and machine.l2 is not None
    narrow = machine.global_memory.line_bytes <= UNITS * SECTOR_BYTES
    return bool(near and narrow and queues(machine) > 1 and sms == machine.chip.sms and not apart and not other)


def only_share(kernel: Kernel, machine: Machine, why: str) -> bool:
    """Tell whether SMs that take turns for this reason may act alone between uses of what they share.

    They may not with texture fetches, which ask their cache when they issue, nor with scalar loads where a warp may
    issue twice in a turn.
    """
    units = {instruction.row.unit for instruction in kernel.program.instructions}
    twice = machine.schedulers.dispatch_ports > 1 and machine.issue.pairing == "same-warp"
    if why == UNTIMED:
        return Unit.TEXTURE not in units
    return why == TAGGED and Unit.TEXTURE not in units and not (Unit.SMEM in units and twice)


def is_alert(machine: Machine) -> bool:
    """Tell whether, in the cycle in which a warp comes to its exit, it matters that its stores have left.

    The warp may exit in the same turn, or the policy looks at warps that wait for that.
    """
    return machine.schedulers.dispatch_ports > 1 or machine.schedulers.policy == "two_level"


def owners(kernel: Kernel, computed: NDArray[np.bool_], memory: NDArray[np.uint32] | Held | None) -> int:
    """Return how many 32-bit words the owners of words of global memory take, half a word each; an even number.

    Without a store among the computed instructions they need none; an atomic stores, whether or not it loads too.
    """
    if not any(one.row.unit is Unit.GLOBAL and _stores(one) for one in _computed(kernel, computed)):
        return 0
    return 2 * -(-(length(kernel) if memory is None else len(memory)) // 4)


def prepare_owners(words: NDArray[np.uint32], first: int, kernel: Kernel) -> None:
    """Let what textures read belong to several SMs; the owners lie in a memory array from word `first` on."""
    texture = (o.name for i in kernel.program.instructions for o in i.operands if isinstance(o, Texture))
    read = {*texture, *(one.buffer for one in kernel.textures)}
    owners, where = words[first:].view(np.uint16), bases(kernel.buffers)
    for buffer in kernel.buffers:
        if buffer.name in read:
            begin = where[buffer.name]
            owners[begin // WORD_BYTES : -(-(begin + buffer.nbytes) // WORD_BYTES)] = SEVERAL


def _computed(kernel: Kernel, computed: NDArray[np.bool_]) -> list[Instruction]:
    return [one for one, wanted in zip(kernel.program.instructions, computed, strict=True) if wanted]


def _stores(instruction: Instruction) -> bool:
    return instruction.row.update is not None or not instruction.row.is_load


def _is_atomic(instruction: Any) -> bool:
    return instruction.row.unit is Unit.GLOBAL and instruction.row.update is not None
