"""Control codes and reuse flags for a loop body, as the compiler of a Hopper chip writes them.

The rules of ptxas (CUDA 13.0, sm_90), as seen in the machine code of the measured loops:

* an instruction's stall count is the time until the next one's unit is free, and its operands of fixed latency are
  ready; at least 2 if the next one waits for its barrier;
* a warp stays selected (yield bit set) except for operand waits of 3 cycles or more, and once in about 12 cycles at a
  wait of 2;
* the result of a unit without fixed latency gets the first barrier without a pending wait, or the last of all; the
  reader of the result waits. One of six is reserved for values loaded before the loop, such as sources;
* a source is kept (reuse) for the next instruction that reads the same register in the same slot, but not if the warp
  yields in between; pairs are kept separate from single registers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from isa.instruction import Instruction
from isa.nvidia.control import BARRIERS, MOST_STALL, Control
from isa.operands.operand import RZ_INDEX, Register
from isa.row import MEMORY_UNITS, Unit

ALU = frozenset({
    Unit.INT, Unit.LOGIC, Unit.SHIFT, Unit.PERMUTE, Unit.COMPARE, Unit.MINMAX, Unit.MOVE, Unit.VOTE,
})  # fmt: skip
FMA = frozenset({Unit.FP32, Unit.FMUL})
HEAVY = frozenset({Unit.IMUL, Unit.DOT, Unit.WIDE})
QUEUED = MEMORY_UNITS | {Unit.SHUFFLE, Unit.REDUCE, Unit.SPECIAL}
SLOW = frozenset({Unit.SFU, Unit.BITS, Unit.CONVERT})
VARIABLE = QUEUED | SLOW  # units whose results come at a variable time: barriers signal them
LATENCY = {Unit.UNIFORM: 6, Unit.FP16: 6, Unit.FP16M: 8, Unit.DP: 8, Unit.WIDE: 6}
HALVES = {(Unit.FP16, Unit.FP16): 4, (Unit.FP16M, Unit.FP16): 10}
SAME, ACROSS, OUT = (
    4,
    5,
    6,
)  # cycles from a result of the FMA or ALU group to its use in the same group, in the other group, elsewhere
GUARD = 13  # cycles from a comparison to the instruction that it guards
GROUPS = (ALU, HEAVY, frozenset({Unit.FP16}), frozenset({Unit.FP16M}), frozenset({Unit.DP}), QUEUED, SLOW)
INTERVAL = {Unit.WIDE: 4, Unit.REDUCE: 8, **dict.fromkeys(QUEUED - {Unit.REDUCE}, 4), **dict.fromkeys(SLOW, 8)}
PAIR = 2  # interval of the other units of a group
TURN = 12  # cycles after which a warp yields at the next wait for a unit
BRANCH = 5


@dataclass
class _State:
    """The state at an instruction, in cycles of the body."""

    ready: dict[tuple[str, int], tuple[int, Unit]] = field(default_factory=dict)  # register or predicate: when written
    free: dict[int, int] = field(default_factory=dict)  # unit group: when free
    barrier: dict[int, int] = field(default_factory=dict)  # register: barrier of its pending result
    barriers: int = BARRIERS


def coded(body: Sequence[Instruction], barriers: int = BARRIERS) -> tuple[Instruction, ...]:
    """Return the body of a loop, its branch last, with control codes that use so many barriers, and reuse flags."""
    state = _State(barriers=barriers)
    _pass(body, state)  # finds the barriers that are pending when the loop starts again
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
    """Return issue time, barriers waited for and barrier set, for each instruction."""
    now, times, waits, writes = 0, list[int](), list[int](), list[int | None]()
    for instruction in body:
        now = max([now, *_needs(instruction, state)])
        waits.append(_wait(instruction, state))
        if writes and writes[-1] is not None and waits[-1] >> writes[-1] & 1:
            now = max(now, times[-1] + PAIR)  # a barrier signals one cycle late
        times.append(now)
        writes.append(_issue(instruction, state, now))
        now += 1
    return times, waits, writes


def _needs(instruction: Instruction, state: _State) -> Iterable[int]:
    """Return the times before which the instruction can't issue: those of its unit and its operands."""
    unit = instruction.row.unit
    yield state.free.get(group_of(unit), 0)
    if unit in FMA:
        yield max(state.free.get(group_of(other), 0) for other in (Unit.IMUL, Unit.FP16))
    for register in instruction.reads():
        when, producer = state.ready.get(("R", register), (-GUARD, unit))
        if producer not in VARIABLE:
            yield when + latency(producer, unit)
    for predicate in instruction.predicates_read():
        when, producer = state.ready.get(("P", predicate), (-GUARD, unit))
        yield when + latency_of_predicate(producer, instruction, predicate)


def latency(producer: Unit, consumer: Unit) -> int:
    """Return the cycles from an instruction of fixed latency to a reader of its register."""
    found = HALVES.get((producer, consumer)) or LATENCY.get(producer)
    if found or consumer in VARIABLE:
        return found or OUT
    return SAME if (producer in ALU) == (consumer in ALU) else ACROSS


def latency_of_predicate(producer: Unit, consumer: Instruction, predicate: int) -> int:
    """Return the cycles from a comparison to an instruction that reads its predicate, as a guard or as an operand."""
    unit = consumer.row.unit
    return GUARD if consumer.guard.index == predicate or unit is Unit.VOTE else latency(producer, unit)


def group_of(unit: Unit) -> int:
    """Return the number of the unit's group, whose units take turns; -1 for units that never wait."""
    return next((i for i, units in enumerate(GROUPS) if unit in units), -1)


def interval_of(unit: Unit) -> int:
    """Return the cycles for which an instruction blocks its group."""
    return INTERVAL.get(unit, PAIR) if group_of(unit) >= 0 else 0


def _wait(instruction: Instruction, state: _State) -> int:
    """Return the mask of barriers for which the instruction waits, and clear them."""
    touched = {*instruction.reads(), *instruction.writes()}
    waited = {barrier for register, barrier in state.barrier.items() if register in touched}
    state.barrier = {register: b for register, b in state.barrier.items() if b not in waited}
    return sum(1 << barrier for barrier in waited)


def _issue(instruction: Instruction, state: _State, now: int) -> int | None:
    """Record the resources that the instruction occupies and the registers that it writes; return its barrier."""
    unit = instruction.row.unit
    state.free[group_of(unit)] = now + interval_of(unit)
    state.ready |= {("R", register): (now, unit) for register in instruction.writes()}
    state.ready |= {("P", predicate): (now, unit) for predicate in instruction.predicates_written()}
    if unit not in VARIABLE or not instruction.writes():
        return None
    pending = set(state.barrier.values())
    barrier = next((b for b in range(state.barriers) if b not in pending), state.barriers - 1)
    state.barrier |= dict.fromkeys(instruction.writes(), barrier)
    return barrier


def _stays(body: Sequence[Instruction], counts: Sequence[int]) -> list[bool]:
    """Return the yield bits: whether the warp stays selected and does not yield."""
    since, bits = 0, list[bool]()
    for instruction, count in zip(body, counts, strict=True):
        for_unit = instruction.row.unit in VARIABLE or instruction.row.unit is Unit.CONTROL
        since += count
        stays = for_unit or count < 2 or (count == 2 and since < TURN)
        since = since if stays else 0
        bits.append(stays)
    return bits


def _reused(body: Sequence[Instruction], place: int, stays: Sequence[bool]) -> tuple[str, ...]:
    """Return the source letters whose register the next reader in the same slot reads again."""
    return tuple(
        letter
        for letter, operand in body[place].slots()
        if letter in "abc" and isinstance(operand, Register) and operand.index != RZ_INDEX
        and _next_there(body, place + 1, letter, operand.index, stays) == operand.index
    )  # fmt: skip


def _next_there(body: Sequence[Instruction], first: int, letter: str, index: int, stays: Sequence[bool]) -> int | None:
    """Return the next register of the same bank that is read in this operand slot before the warp yields."""
    words = body[first - 1].row.words
    for place in range(first, len(body)):
        for other, operand in body[place].slots():
            elsewhere = body[place].row.unit is Unit.UNIFORM or body[place].row.words != words
            if other == letter and not elsewhere and isinstance(operand, Register) and (operand.index - index) % 2 == 0:
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
