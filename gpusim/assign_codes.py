"""Control codes for a program that has none, from a machine's latencies: right on every path, not the best.

Each name (R4, P0) is followed through the program as its pending result and readers are known before each instruction:

* a result of fixed latency, by the most cycles until it is written: whoever comes before its reader gets a stall count;
* any other, and one further off than a stall count reaches, by the write barriers that tell of it: its reader waits;
* sources of a memory instruction that something overwrites later, by read barriers: the overwriter waits.

Where paths meet, the later time and all barriers count. Barriers are handed out in the order of the program; when none
is free, one is shared with what is likeliest to be done at the same time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gpusim.machine import Machine, choices, pairs, through_port
from isa.control import BARRIERS, MOST_STALL, Control
from isa.flow import predecessors, reads, successors, writes
from isa.instruction import Instruction
from isa.program import Program
from isa.table import MEMORY_UNITS, Unit

READ, WRITE = "read", "write"


@dataclass(slots=True)
class Pending:
    """What is pending before an instruction: cycles until each name is written, and masks of barriers that tell."""

    cycles: dict[str, int] = field(default_factory=dict)
    written: dict[str, int] = field(default_factory=dict)
    read: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Facts:
    """What does not change while the program is followed; by pc."""

    after: Sequence[tuple[int, ...]]
    reads: Sequence[frozenset[str]]
    registers: Sequence[frozenset[str]]  # read
    writes: Sequence[frozenset[str]]
    fixed: Sequence[int]  # latency, 0: a barrier tells of the result
    barriers: Sequence[tuple[int | None, int | None]]  # of the reads, of the result
    least: Sequence[int]  # stall count


def has_codes(program: Program) -> bool:
    """Tell whether the program has control codes of its own."""
    return any(instruction.control for instruction in program.instructions)


def with_codes(program: Program, machine: Machine) -> Program:
    """Return the program with control codes: its own, or assigned ones where it has none."""
    if has_codes(program):
        return program
    facts = _facts(program, machine)
    before = _followed(facts)
    coded = [
        replace(instruction, control=_code(facts, before[pc], pc))
        for pc, instruction in enumerate(program.instructions)
    ]
    return replace(program, instructions=tuple(coded))


def fixed_latency(instruction: Instruction, machine: Machine) -> int:
    """Return the cycles after which the result is written for certain, if a stall count reaches that far; else 0."""
    unit = instruction.row.unit
    assert machine.dependence is not None
    if _queues(unit, machine) or unit not in machine.unit or unit in machine.dependence.variable.split():
        return 0
    latency = machine.unit[unit].latency
    return latency if latency <= MOST_STALL else 0


def _queues(unit: Unit, machine: Machine) -> bool:
    """Tell whether the unit class waits in a queue, so that nobody knows when its sources are read."""
    return unit in MEMORY_UNITS - {Unit.TEXTURE} or through_port(machine, unit)


def _facts(program: Program, machine: Machine) -> _Facts:
    code = program.instructions
    read, written = [frozenset(reads(i)) for i in code], [frozenset(writes(i)) for i in code]
    held = [frozenset(f"R{register}" for register in i.reads()) for i in code]
    fixed = [fixed_latency(i, machine) for i in code]
    overwritten = [
        _queues(i.row.unit, machine) and bool(later & held[pc])
        for (pc, i), later in zip(enumerate(code), _written_later(program, written), strict=True)
    ]
    told = [bool(names) and not cycles for names, cycles in zip(written, fixed, strict=True)]
    barriers = _handed_out(code, read, written, overwritten, told)
    return _Facts(successors(program), read, held, written, fixed, barriers, _least(program, machine))


def _written_later(program: Program, written: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Return by pc the names that some instruction behind it may write."""
    before, later = predecessors(program), [frozenset[str]()] * len(program)
    todo = list(range(len(program)))
    while todo:
        pc = todo.pop()
        for previous in before[pc]:
            more = later[previous] | later[pc] | written[pc]
            if more != later[previous]:
                later[previous] = more
                todo.append(previous)
    return later


def _handed_out(
    code: Sequence[Instruction],
    read: Sequence[frozenset[str]],
    written: Sequence[frozenset[str]],
    overwritten: Sequence[bool],
    told: Sequence[bool],
) -> list[tuple[int | None, int | None]]:
    """Return by pc the read and the write barrier, as if the program were one straight line."""
    held: dict[int, tuple[str, Unit, frozenset[str]]] = {}  # barrier: what for, of which unit class, of which names
    given = []
    for pc, instruction in enumerate(code):
        done = [b for b, (kind, _, names) in held.items() if names & _touched(kind, read[pc], written[pc])]
        for barrier in done:
            del held[barrier]
        unit = instruction.row.unit
        reader = _barrier(held, READ, unit, read[pc]) if overwritten[pc] else None
        writer = _barrier(held, WRITE, unit, written[pc]) if told[pc] else None
        given.append((reader, writer))
    return given


def _touched(kind: str, read: frozenset[str], written: frozenset[str]) -> frozenset[str]:
    """Return the names at which an instruction would meet what a barrier of that kind tells of."""
    return written if kind == READ else read | written


def _barrier(held: dict[int, tuple[str, Unit, frozenset[str]]], kind: str, unit: Unit, names: frozenset[str]) -> int:
    """Hand out a barrier: readers of a unit class share one, results share when all are taken."""
    alike = [b for b, (other, of, _) in held.items() if (other, of) == (kind, unit)]
    free = [b for b in range(BARRIERS) if b not in held]
    barrier = alike[-1] if alike and (kind == READ or not free) else free[0] if free else list(held)[-1]
    before = held.pop(barrier)[2] if barrier in held else frozenset()
    held[barrier] = kind, unit, before | names
    return barrier


def _least(program: Program, machine: Machine) -> list[int]:
    """Return the least stall counts: 0 where the next instruction may issue in the same turn, else 1."""
    ports = machine.schedulers.dispatch_ports if machine.issue.pairing == "same-warp" else 1
    run, least = 0, list[int]()
    for one, other in zip(program.instructions, program.instructions[1:], strict=False):
        run = run + 1 if run < ports - 1 and _pair(one, other, machine) else 0
        least.append(0 if run else 1)
    return [*least, 1]


def _pair(one: Instruction, other: Instruction, machine: Machine) -> bool:
    pipes = choices(machine, one.row.unit)
    taken = len(pipes) == 1 and choices(machine, other.row.unit) == pipes
    return (
        not taken
        and one.row.unit not in (Unit.BARRIER, Unit.CONTROL)
        and other.row.unit in pairs(machine, one.row.unit)
    )


def _followed(facts: _Facts) -> list[Pending]:
    """Return what is pending before each instruction, on whatever path. Nothing that was once possible is dropped."""
    before = [Pending() for _ in facts.after]
    todo, queued = list(range(len(before)))[::-1], set(range(len(before)))
    while todo:
        pc = todo.pop()
        queued.discard(pc)
        behind = _behind(facts, before[pc], pc)
        for after in facts.after[pc]:
            if _joined(before[after], behind) and after not in queued:
                todo.append(after)
                queued.add(after)
    return before


def _behind(facts: _Facts, before: Pending, pc: int) -> Pending:
    """Return what is pending when the next instruction may go."""
    waited = _waits(facts, before, pc)
    reader, writer = facts.barriers[pc]
    stall = _stall(facts, before, pc)
    cycles = {name: left - stall for name, left in _left(facts, before, pc).items() if left > stall}
    written = {name: mask & ~waited for name, mask in before.written.items() if mask & ~waited}
    read = {name: mask & ~waited for name, mask in before.read.items() if mask & ~waited}
    if writer is not None:
        _raise(written, facts.writes[pc], 1 << writer)
    if reader is not None:
        _raise(read, facts.registers[pc], 1 << reader)
    return Pending(cycles, written, read)


def _raise(masks: dict[str, int], names: Iterable[str], mask: int) -> None:
    for name in names:
        masks[name] = masks.get(name, 0) | mask


def _left(facts: _Facts, before: Pending, pc: int) -> dict[str, int]:
    """Return the cycles from this issue until each name is written."""
    own = dict.fromkeys(facts.writes[pc], facts.fixed[pc]) if facts.fixed[pc] else {}
    return {**before.cycles, **{name: max(cycles, before.cycles.get(name, 0)) for name, cycles in own.items()}}


def _stall(facts: _Facts, before: Pending, pc: int) -> int:
    """Return the stall count: until the names that an instruction behind this one touches are written."""
    left = _left(facts, before, pc)
    touched = (name for after in facts.after[pc] for name in facts.reads[after] | facts.writes[after])
    return max([facts.least[pc], *(left.get(name, 0) for name in touched)])


def _waits(facts: _Facts, before: Pending, pc: int) -> int:
    """Return the mask of barriers that the instruction waits for."""
    return _masked(before.written, facts.reads[pc] | facts.writes[pc]) | _masked(before.read, facts.writes[pc])


def _masked(masks: Mapping[str, int], names: Iterable[str]) -> int:
    mask = 0
    for name in names:
        mask |= masks.get(name, 0)
    return mask


def _joined(into: Pending, other: Pending) -> bool:
    """Add what is pending on one more path; tells whether that is news."""
    news = False
    for name, cycles in other.cycles.items():
        if cycles > into.cycles.get(name, 0):
            into.cycles[name], news = cycles, True
    for masks, more in ((into.written, other.written), (into.read, other.read)):
        for name, mask in more.items():
            if mask & ~masks.get(name, 0):
                masks[name], news = masks.get(name, 0) | mask, True
    return news


def _code(facts: _Facts, before: Pending, pc: int) -> Control:
    reader, writer = facts.barriers[pc]
    return Control(_stall(facts, before, pc), False, reader, writer, _waits(facts, before, pc))
