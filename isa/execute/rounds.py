"""Compute many loop rounds side by side if each adds the same to the registers: guess the states, then check them.

Each round is computed as usual, as if its warps were further warps of the block. Only the state at the start of each
round is guessed, and it is checked for every round; nothing else is assumed of the instructions. So a loop of an
address slice takes as long as a few of its rounds, and stays exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.dataflow.flow import reads, writes
from isa.errors import ExecutionError
from isa.execute import steps
from isa.execute.frame import Frame, Group
from isa.execute.steps import Action, Fetch, Observe, Scope
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.operand import PT
from isa.row import LOAD_UNITS, Unit

FIRST = 16  # rounds guessed at the first attempt
GROWTH = 8  # factor after an attempt in which every guess was right
WARPS = 1 << 11  # of all rounds of an attempt: one of their registers then takes 256 KiB, which stays in a cache

Access = tuple[int, NDArray[np.int64], NDArray[np.uint32], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Visit:
    """An instruction of a loop that computes, accesses memory or has a guard."""

    pc: int
    guard: Fetch | None
    action: Action | None
    accesses: bool
    still: bool  # the same access in every round


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A loop: instructions first to last, always in this order, the last a branch to the first."""

    first: int
    last: int
    visits: tuple[Visit, ...]
    registers: NDArray[np.int64]  # registers that the loop reads or writes
    needed: frozenset[int]  # warps that its barriers wait for
    seen: list[Access]  # of the rounds being computed


@dataclass(slots=True, eq=False)
class Round:
    """The state in which a group of warps last branched back, and the number of rounds to guess from there."""

    group: Group
    issued: int
    registers: NDArray[np.uint32]  # [those of the loop, warp, lane]
    guess: int = FIRST
    pause: int = 0  # rounds until the next attempt
    failed: int = 0


def loop_at(
    kernel: Kernel, constants: Mapping[str, int], evaluate: NDArray[np.bool_], needed: Mapping[int, int], last: int
) -> Loop | None:
    """Return the loop that ends with the branch at pc `last`, if its rounds affect each other only by registers.

    `needed` are the warps for which the barrier at a pc waits. None if the loop has further branches, guarded barriers,
    special registers, or accesses whose data is evaluated.
    """
    instructions = kernel.program.instructions
    label = instructions[last].label()
    if label is None:
        return None
    body = range(kernel.program.labels[label.name], last)
    if kernel.program.labels[label.name] > last or not all(_alone(instructions[pc], evaluate[pc]) for pc in body):
        return None
    seen: list[Access] = []
    written = {name for pc in body if evaluate[pc] for name in writes(instructions[pc])}
    visits = [_visit(Scope(kernel, pc, constants, _note(seen)), bool(evaluate[pc]), written) for pc in body]
    used = written.union(*(_sources(instructions[v.pc]) for v in visits if v.action))
    return Loop(
        first=body.start,
        last=last,
        visits=tuple(v for v in visits if v.guard or v.action),
        registers=np.array(sorted(int(name[1:]) for name in used if name.startswith("R")), np.int64),
        needed=frozenset(needed[pc] for pc in body if pc in needed),
        seen=seen,
    )


def leap(loop: Loop, turn: Round | None, frame: Frame, group: Group, issued: int, most: int) -> tuple[Round, int]:
    """Take up to `most` rounds at once after a group has just branched back; return its state, and how many.

    `turn` is the result of the last call for this loop; `issued`, the warp instructions of the whole block, shows
    whether exactly one round was executed since. Registers and counts end as the rounds leave them.
    """
    here = Round(group, issued, frame.registers[loop.registers][:, group.select])
    if turn is None or turn.group is not group or issued - turn.issued != _issues(loop, group):
        return here, 0
    here.guess, here.pause, here.failed = turn.guess, turn.pause - 1, turn.failed
    guess = min(turn.guess, WARPS // len(group.members), most)
    if here.pause > 0 or guess < 1 or not loop.needed <= {len(group.members)}:
        return here, 0
    step = here.registers - turn.registers
    rounds = _as_guessed(loop, frame, group, here.registers, step, guess)
    if rounds == 0 or not _take(loop, frame, group, here.registers, step, rounds):
        here.guess, here.pause, here.failed = FIRST, 1 << min(turn.failed, 20), turn.failed + 1
        return here, 0
    here.registers = here.registers + np.uint32(rounds) * step
    here.issued += rounds * _issues(loop, group)
    here.guess = guess * GROWTH if rounds == guess else rounds
    return here, rounds


def _issues(loop: Loop, group: Group) -> int:
    """Return the warp instructions of a round."""
    return (loop.last - loop.first + 1) * len(group.members)


def _alone(instruction: Instruction, evaluated: bool) -> bool:
    """Tell whether the instruction has the same effect in rounds side by side as in one after another."""
    row = instruction.row
    if row.unit is Unit.BARRIER:
        return row.mnemonic in ("BAR.SYNC", "S_BARRIER") and not instruction.predicates_read() + instruction.reads()
    if row.is_branch or row.is_exit or row.steers:
        return False
    return not (evaluated and (row.unit in LOAD_UNITS or row.reads_special))


def _visit(scope: Scope, evaluated: bool, written: set[str]) -> Visit:
    instruction = scope.instruction
    accesses = instruction.row.unit in LOAD_UNITS
    still = accesses and instruction.guard == PT and written.isdisjoint(_sources(instruction))
    action = None if instruction.row.unit is Unit.BARRIER else steps.action(scope, evaluated)
    return Visit(scope.pc, steps.guard(instruction.guard), action, accesses, still)


def _sources(instruction: Instruction) -> set[str]:
    """Return the names read to compute a value or an address."""
    address = instruction.address()
    return reads(instruction) if address is None else {f"R{r}" for r in address.registers}


def _note(seen: list[Access]) -> Observe:
    return lambda *access: seen.append(access)


def _as_guessed(
    loop: Loop, frame: Frame, group: Group, start: NDArray[np.uint32], step: NDArray[np.uint32], guess: int
) -> int:
    """Return how many rounds end as the next was guessed to begin, and branch back with the same predicates."""
    wide, wide_group = _side_by_side(loop, frame, group, start, step, guess)
    for visit in loop.visits:
        if visit.action is not None and not visit.accesses:
            _do(visit, wide, wide_group)
    shape = guess, *group.live.shape
    ends = wide.registers[loop.registers].reshape(-1, *shape)
    right = (ends == _states(start + step, step, guess)).all(axis=(0, 2, 3))
    predicates = wide.predicates.reshape(-1, *shape)
    right &= (predicates == frame.predicates[:, None, group.select]).all(axis=(0, 2, 3))
    return guess if right.all() else int(np.argmin(right))


def _take(
    loop: Loop, frame: Frame, group: Group, start: NDArray[np.uint32], step: NDArray[np.uint32], rounds: int
) -> bool:
    """Compute rounds with correct guesses, and their accesses; False, with nothing changed, if one of them faults."""
    wide, wide_group = _side_by_side(loop, frame, group, start, step, rounds)
    loop.seen.clear()
    held: dict[int, int] = {}
    try:
        for visit in loop.visits:
            if visit.still:
                _do(visit, frame, group)
                loop.seen.extend(loop.seen[-1:] * (rounds - 1))
            else:
                held[visit.pc] = _do(visit, wide, wide_group)
    except ExecutionError:  # it comes again in its own round
        return False
    span = slice(loop.first, loop.last + 1)
    frame.counts[span] += rounds * len(group.members)
    frame.active[span] += wide_group.lanes
    for pc, lanes in held.items():
        frame.active[pc] += lanes - wide_group.lanes
    for register, end in zip(loop.registers, start + np.uint32(rounds) * step, strict=True):
        frame.registers[register, group.select] = end
        frame.versions[register] += 1
    return True


def _do(visit: Visit, frame: Frame, group: Group) -> int:
    """Execute an instruction, and return the lanes in which its guard holds."""
    mask: Any = group.mask if visit.guard is None else visit.guard(frame, group)
    if visit.action is not None:
        visit.action(frame, group, mask)
    return group.lanes if visit.guard is None else int(np.count_nonzero(mask))


def _side_by_side(
    loop: Loop, frame: Frame, group: Group, start: NDArray[np.uint32], step: NDArray[np.uint32], rounds: int
) -> tuple[Frame, Group]:
    """Return the block with the warps of each round beside those of the previous round, all at their start."""
    warps = rounds * len(group.members)
    registers = np.zeros((len(frame.registers), warps, *start.shape[2:]), np.uint32)
    registers[loop.registers] = _states(start, step, rounds).reshape(len(start), warps, *start.shape[2:])
    predicates, live = np.tile(frame.predicates[:, group.select], (1, rounds, 1)), np.tile(group.live, (rounds, 1))
    wide = replace(frame, registers=registers, predicates=predicates, versions=[0] * len(registers), located={})
    mask = None if group.mask is None else live
    numbers = np.tile(group.warps, rounds)
    return wide, Group(group.members * rounds, numbers, slice(None), live, mask, rounds * group.lanes)


def _states(start: NDArray[np.uint32], step: NDArray[np.uint32], rounds: int) -> Any:
    """Return the guessed registers at the start of each round, [register, round, warp, lane]."""
    return start[:, None] + np.arange(rounds, dtype=np.uint32)[:, None, None] * step[:, None]
