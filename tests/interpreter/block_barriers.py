"""The barriers of a block in the interpreter: who has arrived, who waits, and what BAR.RED has found so far.

A warp arrives as a whole, also if only some of its lanes execute the instruction (an H200 does the same). BAR.ARV
arrives and does not wait. Where lanes are independent, a warp that has exited is no longer waited for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from interpreter.frame import Frame
from isa.executing import faults
from isa.executing.barriers import ALL, wanted
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import RZ_INDEX, Predicate, Register


@dataclass(slots=True)
class Barrier:
    """A barrier in use: how many warps it waits for, the warps that wait, all that have arrived, what they found."""

    needed: int
    waiting: list[int] = field(default_factory=list)
    members: list[int] = field(default_factory=list)
    found: int = 0
    reduces: str = ""  # what, behind BAR.RED


@dataclass(frozen=True, slots=True, eq=False)
class Arrival:
    """A warp at a barrier: the instruction, and the lanes that execute it."""

    pc: int
    warp: int
    lanes: NDArray[np.bool_]


Barriers = dict[int, Barrier]


def asked(kernel: Kernel, instruction: Instruction, frame: Frame, warp: int) -> tuple[int, int]:
    """Return a barrier's number and the warps that release it, from what the warp's lowest live lane holds."""
    first = int(np.argmax(frame.live[warp]))
    return wanted(kernel, instruction, lambda register: int(frame.registers[register.index, warp][first]))


def arrive(kernel: Kernel, frame: Frame, barriers: Barriers, arrival: Arrival, alive: int) -> Barrier | None:
    """Let a warp arrive; return the barrier if it is the last that was waited for.

    `alive` warps have not exited. Raises ExecutionError if others wait there for another number of warps, or find
    something else, or if a register names several barriers.
    """
    instruction = kernel.program.instructions[arrival.pc]
    if _names_several(instruction, frame, arrival):
        raise faults.several_barriers(kernel, arrival.pc, frame.block, arrival.warp)
    number, needed = asked(kernel, instruction, frame, arrival.warp)
    barrier = barriers.setdefault(number, Barrier(needed, reduces=_reduction(instruction)))
    if barrier.needed != needed:
        expected, given = (n or alive for n in (barrier.needed, needed))
        raise faults.barrier_count(kernel, arrival.pc, frame.block, arrival.warp, expected=expected, given=given)
    if barrier.reduces != _reduction(instruction):
        raise faults.barrier_kinds(kernel, arrival.pc, frame.block, arrival.warp)
    _reduce(barrier, instruction, frame, arrival)
    barrier.members.append(arrival.warp)
    if not passes(kernel, arrival):
        barrier.waiting.append(arrival.warp)
    return _released(frame, barriers, number, alive)


def passes(kernel: Kernel, arrival: Arrival) -> bool:
    """Tell whether a warp that arrives does not wait."""
    return kernel.program.instructions[arrival.pc].row.mnemonic == "BAR.ARV"


def leave(frame: Frame, barriers: Barriers, alive: int) -> list[Barrier]:
    """Return the barriers that wait for nobody any more, because a warp has exited and only so many have not."""
    numbers = [number for number, barrier in barriers.items() if barrier.needed == ALL]
    done = [_released(frame, barriers, number, alive) for number in numbers]
    return [barrier for barrier in done if barrier is not None]


def stuck(barriers: Barriers, pcs: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
    """Return (warp, pc of its barrier) of those that wait, by barrier; a waiting warp's pc is the one after."""
    return {n: [(w, pcs[w] - 1) for w in barrier.waiting] for n, barrier in barriers.items() if barrier.waiting}


def _names_several(instruction: Instruction, frame: Frame, arrival: Arrival) -> bool:
    """Tell whether lanes that come together have several numbers in their register."""
    number = next((o for letter, o in instruction.slots() if letter == "k"), None)
    if not isinstance(number, Register) or number.index == RZ_INDEX:
        return False
    words = frame.registers[number.index, arrival.warp][arrival.lanes]
    return bool((words != words[:1]).any())


def _reduction(instruction: Instruction) -> str:
    """Return what a BAR.RED finds; empty for another BAR."""
    return instruction.row.mnemonic.split(".")[2] if instruction.row.mnemonic.startswith("BAR.RED") else ""


def _reduce(barrier: Barrier, instruction: Instruction, frame: Frame, arrival: Arrival) -> None:
    """Add what the lanes of a warp find to what BAR.RED has found: a count, whether any is true, whether all are."""
    if not barrier.reduces:
        return
    predicate = next(o for o in instruction.operands if isinstance(o, Predicate))
    held = frame.predicates[predicate.index, arrival.warp] ^ predicate.negated
    true, all_true = int((held & arrival.lanes).sum()), bool((held | ~arrival.lanes).all())
    if barrier.reduces == "POPC":
        barrier.found += true
    elif barrier.reduces == "OR":
        barrier.found |= true > 0
    else:
        barrier.found = int(all_true and (barrier.found == 1 or not barrier.members))


def _released(frame: Frame, barriers: Barriers, number: int, alive: int) -> Barrier | None:
    """Return a barrier that all have reached that are needed, and no longer keep it."""
    barrier = barriers[number]
    if len(barrier.members) < (barrier.needed or alive):
        return None
    del barriers[number]
    if barrier.reduces:
        frame.reduced[barrier.waiting] = barrier.found
    return barrier
