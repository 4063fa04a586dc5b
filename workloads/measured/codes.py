"""Control codes and reuse flags for a loop body, as the compiler of a Hopper chip writes them.

What ptxas (CUDA 13.0, sm_90) does was read off the machine code of the measured loops:

* an instruction's stall count is the time until the next one finds its unit, and its operands where their latency is
  fixed;
* a warp stays selected (yield bit set) but for waits of 3 cycles or more for an operand, and once in some 12 cycles at
  a wait of 2;
* the result of a unit without fixed latency gets a barrier, one for each destination as long as there are any; whoever
  needs it waits;
* a source is kept (reuse) for the next instruction that reads the same register at the same place, but not where the
  warp lets others go first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from isa.control import BARRIERS, MOST_STALL, Control
from isa.instruction import Instruction
from isa.operand import RZ_INDEX, Register
from isa.table import MEMORY_UNITS, Unit

ALU = frozenset({
    Unit.INT, Unit.LOGIC, Unit.SHIFT, Unit.PERMUTE, Unit.COMPARE, Unit.MINMAX, Unit.MOVE, Unit.VOTE,
})  # fmt: skip
HEAVY = frozenset({Unit.IMUL, Unit.DOT})
QUEUED = MEMORY_UNITS | {Unit.SHUFFLE, Unit.REDUCE, Unit.SPECIAL}
SLOW = frozenset({Unit.SFU, Unit.BITS, Unit.CONVERT})
VARIABLE = QUEUED | SLOW  # results come when they come: barriers tell
LATENCY = {Unit.UNIFORM: 6, Unit.FP16: 6, Unit.FP16M: 8, Unit.DP: 8}
SAME, ACROSS = 4, 5  # cycles from a result of the FMA or ALU group to its use inside the group and outside
GUARD = 13  # cycles from a comparison to the instruction that it guards
INTERVALS = ((ALU, 2), (HEAVY, 2), ({Unit.FP16}, 2), ({Unit.FP16M}, 2), ({Unit.DP}, 2), (QUEUED, 4), (SLOW, 8))
TURN = 12  # cycles after which a warp lets others go first at the next wait for a unit
BRANCH = 5
WIDE, WIDE_INTERVAL = frozenset({"IMAD.HI"}), 4  # multiplications that take their unit for longer


@dataclass
class _State:
    """What is known at an instruction, in cycles of the body."""

    ready: dict[tuple[str, int], tuple[int, Unit]] = field(default_factory=dict)  # register or predicate: written when
    free: dict[int, int] = field(default_factory=dict)  # unit group: when
    barrier: dict[int, int] = field(default_factory=dict)  # register: barrier of its pending result
    owner: dict[int, int] = field(default_factory=dict)  # destination: its barrier


def coded(body: Sequence[Instruction]) -> tuple[Instruction, ...]:
    """Return the body of a loop, its branch last, with control codes and reuse flags."""
    state = _State()
    _pass(body, state)  # barriers that are pending where the loop begins again
    state.ready.clear()
    state.free.clear()
    times, waits, writes = _pass(body, state)
    counts = [after - before for before, after in zip(times, [*times[1:], times[-1] + BRANCH], strict=True)]
    stays = _stays(body, counts)
    flags = [_reused(body, i, stays) if stays[i] and counts[i] <= 2 else () for i in range(len(body))]
    return tuple(
        replace(
            _flagged(instruction, flags[i]),
            control=Control(min(counts[i], MOST_STALL), not stays[i], write_barrier=writes[i], waits=waits[i]),
        )
        for i, instruction in enumerate(body)
    )


def plain(
    instruction: Instruction,
    reuse: Iterable[str] = (),
    *,
    stall: int = 1,
    yields: bool = False,
    write_barrier: int | None = None,
    waits: int = 0,
) -> Instruction:
    """Return the instruction with this control code, and reuse flags on the sources of these letters."""
    return replace(_flagged(instruction, reuse), control=Control(stall, yields, None, write_barrier, waits))


def _pass(body: Sequence[Instruction], state: _State) -> tuple[list[int], list[int], list[int | None]]:
    """Issue time, barriers waited for and barrier set, of each instruction."""
    now, times, waits, writes = 0, list[int](), list[int](), list[int | None]()
    for instruction in body:
        now = max([now, *_needs(instruction, state)])
        times.append(now)
        waits.append(_wait(instruction, state))
        writes.append(_issue(instruction, state, now))
        now += 1
    return times, waits, writes


def _needs(instruction: Instruction, state: _State) -> Iterable[int]:
    """Times before which the instruction can't go: its unit and its operands."""
    unit = instruction.row.unit
    yield from (state.free.get(group, 0) for group, (units, _) in enumerate(INTERVALS) if unit in units)
    for register in instruction.reads():
        when, producer = state.ready.get(("R", register), (-GUARD, unit))
        if producer not in VARIABLE:
            yield when + _latency(producer, unit)
    for predicate in instruction.predicates_read():
        guards = instruction.guard.index == predicate
        when, producer = state.ready.get(("P", predicate), (-GUARD, unit))
        yield when + (GUARD if guards or unit is Unit.VOTE else _latency(producer, unit))


def _latency(producer: Unit, consumer: Unit) -> int:
    across = (producer in ALU) != (consumer in ALU)
    return LATENCY.get(producer, ACROSS if across else SAME)


def _wait(instruction: Instruction, state: _State) -> int:
    """Mask of barriers that the instruction waits for, which are then done with."""
    touched = {*instruction.reads(), *instruction.writes()}
    waited = {barrier for register, barrier in state.barrier.items() if register in touched}
    state.barrier = {register: b for register, b in state.barrier.items() if b not in waited}
    return sum(1 << barrier for barrier in waited)


def _issue(instruction: Instruction, state: _State, now: int) -> int | None:
    """Note what the instruction occupies and writes; returns its barrier."""
    unit = instruction.row.unit
    for group, (units, interval) in enumerate(INTERVALS):
        if unit in units:
            state.free[group] = now + (WIDE_INTERVAL if instruction.row.mnemonic in WIDE else interval)
    state.ready |= {("R", register): (now, unit) for register in instruction.writes()}
    state.ready |= {("P", predicate): (now, unit) for predicate in instruction.predicates_written()}
    if unit not in VARIABLE or not instruction.writes():
        return None
    first = instruction.writes()[0]
    barrier = state.owner.setdefault(first, min(len(state.owner), BARRIERS - 1))
    state.barrier |= dict.fromkeys(instruction.writes(), barrier)
    return barrier


def _stays(body: Sequence[Instruction], counts: Sequence[int]) -> list[bool]:
    """Yield bits: whether the warp stays selected, and does not yield."""
    since, bits = 0, list[bool]()
    for instruction, count in zip(body, counts, strict=True):
        for_unit = instruction.row.unit in VARIABLE or instruction.row.unit is Unit.CONTROL
        since += count
        stays = for_unit or count < 2 or (count == 2 and since < TURN)
        since = since if stays else 0
        bits.append(stays)
    return bits


def _reused(body: Sequence[Instruction], place: int, stays: Sequence[bool]) -> tuple[str, ...]:
    """Source letters whose register the next instruction that reads one at this place reads again."""
    return tuple(
        letter
        for letter, operand in body[place].slots()
        if letter in "abc" and isinstance(operand, Register) and operand.index != RZ_INDEX
        and _next_there(body, place + 1, letter, operand.index, stays) == operand.index
    )  # fmt: skip


def _next_there(body: Sequence[Instruction], first: int, letter: str, index: int, stays: Sequence[bool]) -> int | None:
    """The next register of the same bank that is read at this operand place before the warp lets others go first."""
    for place in range(first, len(body)):
        for other, operand in body[place].slots():
            uniform = body[place].row.unit is Unit.UNIFORM
            if other == letter and not uniform and isinstance(operand, Register) and (operand.index - index) % 2 == 0:
                return operand.index
        if not stays[place]:
            return None
    return None


def _flagged(instruction: Instruction, letters: Iterable[str]) -> Instruction:
    chosen = set(letters)
    if not chosen:
        return instruction
    operands = tuple(
        replace(o, reuse=True) if letter in chosen and isinstance(o, Register) else o
        for letter, o in instruction.slots()
    )
    return replace(instruction, operands=operands)
