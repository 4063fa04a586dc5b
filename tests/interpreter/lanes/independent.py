"""Control flow of warps whose lanes are independent, in the interpreter: what each instruction does to their groups.

A step gets the groups of a warp, whose pc is that of the next instruction, and the lanes in which the guard holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from interpreter.frame import Frame
from interpreter.lanes import convergence
from interpreter.lanes.groups import EVERY, IN_COLLECTIVE, Groups, lane_numbers, lanes_in
from isa.executing import faults
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operands.operand import RZ_INDEX, Convergence, Immediate, Operand, Predicate, Register
from isa.program import CODE_BYTES

LANES = 32


@dataclass(frozen=True, slots=True)
class Here:
    """Where an instruction is executed: the warp, its groups, and the lanes in which the guard holds."""

    frame: Frame
    warp: int
    groups: Groups
    lanes: int


Step = Callable[[Here], None]


@dataclass(slots=True)
class Warps:
    """The groups of each warp of a block, and the warps that let others go first."""

    groups: list[Groups] = field(default_factory=list)
    away: set[int] = field(default_factory=set)


def begin(frame: Frame) -> Warps:
    """Return the warps of a block at its start."""
    return Warps([convergence.begin(mask) for mask in masks(frame.live).tolist()])


def masks(lanes: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Return the lanes of each warp, bool[warp, lane], as masks."""
    return np.packbits(lanes, axis=1, bitorder="little").view(np.uint32)[:, 0]


def lanes_of(mask: int) -> NDArray[np.bool_]:
    """Return the lanes of a mask as bool[lane]."""
    return np.unpackbits(np.array([mask], np.uint32).view(np.uint8), bitorder="little").astype(np.bool_)


def step(kernel: Kernel, pc: int) -> Step:
    """Return what the branch, exit or other control instruction at pc does."""
    instruction = kernel.program.instructions[pc]
    row = instruction.row
    if row.is_exit:
        return _leave(kernel, pc)
    if row.is_indirect:
        return _indirect(kernel, pc)
    if row.is_branch:
        return _branch(kernel, instruction)
    base = max((base for base in _STEPS if row.mnemonic.startswith(base)), key=len)
    return _STEPS[base](kernel, pc)


def holds(instruction: Instruction, here: Here) -> int:
    """Return the lanes in which the predicates that it reads hold; for BRA.DIV and BRA.CONV all that run, or none."""
    lanes = here.lanes
    for gate in instruction.gates():
        lanes &= _where(gate, here)
    if instruction.row.mnemonic in ASKS and lanes:
        operand = next((o for letter, o in instruction.slots() if letter == "k"), Immediate(EVERY, "int"))
        asked = _words(operand, here)[_lowest(here.groups.lanes)] or EVERY
        others = asked & ~here.groups.gone != lanes
        return here.groups.lanes if others == ASKS[instruction.row.mnemonic] else 0
    return lanes


ASKS = {"BRA.DIV": True, "BRA.CONV": False}  # whether all branch if others than a mask's lanes run, or fail the guard
GIVE_WAY = ("YIELD", "NANOSLEEP")


def _where(predicate: Predicate, here: Here) -> int:
    held = int(masks(here.frame.predicates[predicate.index, here.warp][None])[0])
    return EVERY & ~held if predicate.negated else held


def _branch(kernel: Kernel, instruction: Instruction) -> Step:
    label = instruction.label()
    assert label is not None
    target = kernel.program.labels[label.name]
    return lambda here: convergence.branch(here.groups, here.lanes, target)


def _indirect(kernel: Kernel, pc: int) -> Step:
    """Return a branch to the sum of a label and an address in a pair of registers."""
    instruction, label = kernel.program.instructions[pc], kernel.program.instructions[pc].label()
    base, length = CODE_BYTES * kernel.program.labels[label.name] if label else 0, len(kernel.program)
    operand = next(o for x, o in instruction.slots() if x == "a")

    def act(here: Here) -> None:
        places = dict[int, int]()
        addresses = _pairs(operand, here)
        for lane in lane_numbers(here.groups.lanes):
            place = here.groups.pc
            if here.lanes >> lane & 1:
                address = (addresses[lane] + base) % (1 << 64)
                place = address // CODE_BYTES
                if address % CODE_BYTES or place >= length:
                    raise faults.no_code(kernel, pc, here.frame.block, here.warp, lane=lane, address=address)
            places[place] = places.get(place, 0) | 1 << lane
        convergence.scatter(here.groups, places, pc)

    return act


def _of_barrier(act: Callable[[Groups, int, int], None]) -> Callable[[Kernel, int], Step]:
    def made(kernel: Kernel, pc: int) -> Step:
        barrier = next(o.index for o in kernel.program.instructions[pc].operands if isinstance(o, Convergence))
        return lambda here: act(here.groups, barrier, here.lanes)

    return made


def _move(kernel: Kernel, pc: int) -> Step:
    """Return a move between a convergence barrier and a register: into it, or out of it, which clears it."""
    instruction = kernel.program.instructions[pc]
    barrier = next(o.index for o in instruction.operands if isinstance(o, Convergence))
    other = next(o for o in instruction.operands if isinstance(o, Register | Immediate))
    clears = "d" in instruction.row.form

    def act(here: Here) -> None:
        if clears:
            _write(other, here, here.groups.barriers[barrier])
            convergence.put(here.groups, barrier, 0)
        else:
            convergence.put(here.groups, barrier, _words(other, here)[_lowest(here.lanes)])

    return act


def _of_masks(act: Callable[[Groups, int, Sequence[int]], None]) -> Callable[[Kernel, int], Step]:
    def made(kernel: Kernel, pc: int) -> Step:
        asked = kernel.program.instructions[pc].operands
        return lambda here: act(here.groups, here.lanes, _words(asked[0], here) if asked else _ALL)

    return made


def _gather(kernel: Kernel, pc: int) -> Step:
    """Return a plain WARPSYNC, which no lane may execute that its mask lacks."""
    asked = kernel.program.instructions[pc].operands

    def act(here: Here) -> None:
        wanted = _words(asked[0], here) if asked else _ALL
        if lacking := [lane for lane in lane_numbers(here.lanes) if not wanted[lane] >> lane & 1]:
            raise faults.left_out(kernel, pc, here.frame.block, here.warp, lane=lacking[0])
        convergence.gather(here.groups, here.lanes, wanted)

    return act


def _leave(kernel: Kernel, pc: int) -> Step:
    def act(here: Here) -> None:
        if lanes_in(here.groups, IN_COLLECTIVE) & here.groups.lanes:
            raise faults.gone_within(kernel, pc, here.frame.block, here.warp, lane=_lowest(here.lanes))
        convergence.leave(here.groups, here.lanes)

    return act


def _collect(kernel: Kernel, pc: int) -> Step:
    instruction = kernel.program.instructions[pc]
    asked, label = instruction.operands[:-1], instruction.label()
    assert label is not None
    place = kernel.program.labels[label.name]

    def act(here: Here) -> None:
        convergence.collect(here.groups, here.lanes, _words(asked[0], here) if asked else _ALL, place)

    return act


def _trap(kernel: Kernel, pc: int) -> Step:
    def act(here: Here) -> None:
        raise faults.trap(kernel, pc, here.frame.block, here.warp, lane=_lowest(here.lanes))

    return act


_ALL = [EVERY] * LANES
_STEPS: Mapping[str, Callable[[Kernel, int], Step]] = {
    "BSSY": _of_barrier(convergence.expect),
    "BSYNC": _of_barrier(convergence.meet),
    "BREAK": _of_barrier(convergence.take_away),
    "BMOV": _move,
    "WARPSYNC": _gather,
    "WARPSYNC.EXCLUSIVE": _of_masks(convergence.part_by_mask),
    "WARPSYNC.COLLECTIVE": _collect,
    "ENDCOLLECTIVE": lambda _kernel, _pc: lambda here: convergence.disperse(here.groups),
    "YIELD": lambda _kernel, _pc: lambda here: convergence.give_way(here.groups),
    "NANOSLEEP": lambda _kernel, _pc: lambda here: convergence.give_way(here.groups),
    "BPT": _trap,
}


def _words(operand: Operand, here: Here) -> list[int]:
    """Return a number or 32-bit register in each lane."""
    if isinstance(operand, Immediate):
        return [operand.bits & EVERY] * LANES
    assert isinstance(operand, Register)
    flip = EVERY if operand.inverted else 0
    if operand.index == RZ_INDEX:
        return [flip] * LANES
    return [word ^ flip for word in here.frame.registers[operand.index, here.warp].tolist()]


def _pairs(operand: Operand, here: Here) -> list[int]:
    """Return a number or a pair of registers in each lane."""
    if isinstance(operand, Immediate) or (isinstance(operand, Register) and operand.index == RZ_INDEX):
        return [operand.bits if isinstance(operand, Immediate) else 0] * LANES
    assert isinstance(operand, Register)
    low, high = here.frame.registers[operand.index : operand.index + 2, here.warp].tolist()
    return [one | other << 32 for one, other in zip(low, high, strict=True)]


def _write(register: Register, here: Here, word: int) -> None:
    if register.index != RZ_INDEX:
        here.frame.registers[register.index, here.warp][lanes_of(here.lanes)] = word
        here.frame.versions[register.index] += 1


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1
