"""Control codes for a program that has none, from a machine's latencies: right on every path, not the best.

Each name (R4, P0) is followed through the program as its pending result and readers are known before each instruction:

* a result of fixed latency, by the most cycles until it is written: whoever comes before its reader gets a stall count;
* any other, and one further off than a stall count reaches, by the write barriers that tell of it: its reader waits;
* sources of a memory instruction that something overwrites later, by read barriers: the overwriter waits.

Where paths meet, the later time and all barriers count. Barriers are handed out in the order of the program; when none
is free, those two become one whose waiters come closest behind each other.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from gpusim.machine import Machine, choices, pairs, through_port
from isa.control import BARRIERS, MOST_STALL, Control
from isa.flow import predecessors, reads, successors, writes
from isa.instruction import Instruction
from isa.program import Program
from isa.table import MEMORY_UNITS, Unit

READ, WRITE = "read", "write"
NOWHERE = 1 << 30


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


@dataclass(slots=True, eq=False)
class _Barrier:
    """A barrier held for results or readers of a unit class: its names, where one is met, and who gives it.

    `givers`: (pc, 0 as read or 1 as write barrier).
    """

    number: int
    kind: str
    unit: Unit
    names: frozenset[str]
    met: int
    givers: list[tuple[int, int]]


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
    held: list[_Barrier] = []
    given: list[list[int | None]] = [[None, None] for _ in code]
    users, writers = _places(map(frozenset.union, read, written)), _places(written)
    for pc, instruction in enumerate(code):
        held = [b for b in held if not b.names & _touched(b.kind, read[pc], written[pc])]
        unit = instruction.row.unit
        if overwritten[pc]:
            _hand_out(held, given, _Barrier(-1, READ, unit, read[pc], _next(writers, read[pc], pc), [(pc, 0)]))
        if told[pc]:
            _hand_out(held, given, _Barrier(-1, WRITE, unit, written[pc], _next(users, written[pc], pc), [(pc, 1)]))
    return [(reader, writer) for reader, writer in given]


def _places(names: Iterable[frozenset[str]]) -> Mapping[str, list[int]]:
    """Return for each name where it is touched, in order."""
    places = defaultdict[str, list[int]](list)
    for pc, touched in enumerate(names):
        for name in touched:
            places[name].append(pc)
    return places


def _next(places: Mapping[str, list[int]], names: frozenset[str], pc: int) -> int:
    """Return where one of the names is touched next, straight on; NOWHERE behind the program's end."""
    behind = ((places.get(name, []), bisect_right(places.get(name, []), pc)) for name in names)
    return min((where[i] for where, i in behind if i < len(where)), default=NOWHERE)


def _touched(kind: str, read: frozenset[str], written: frozenset[str]) -> frozenset[str]:
    """Return the names at which an instruction would meet what a barrier of that kind tells of."""
    return written if kind == READ else read | written


def _hand_out(held: list[_Barrier], given: list[list[int | None]], new: _Barrier) -> None:
    """Give the instruction of a new barrier a number; readers of a unit class always share one."""
    held.append(new)
    alike = [b for b in held[:-1] if (b.kind, b.unit) == (READ, new.unit)] if new.kind == READ else []
    if alike:
        _join(held, given, alike[-1], new)
    elif len(held) > BARRIERS:
        _join(held, given, *min(combinations(held, 2), key=_apart))
    if new in held:
        free = next(number for number in range(BARRIERS) if all(b.number != number for b in held))
        _number(given, new, free)


def _apart(pair: tuple[_Barrier, _Barrier]) -> tuple[bool, int]:
    """Return how badly two barriers go together: of another kind or unit class, and how far apart they are met."""
    one, other = pair
    return (one.kind, one.unit) != (other.kind, other.unit), abs(one.met - other.met)


def _join(held: list[_Barrier], given: list[list[int | None]], one: _Barrier, other: _Barrier) -> None:
    """Make the later of two held barriers part of the earlier."""
    held.remove(other)
    one.names, one.met = one.names | other.names, min(one.met, other.met)
    one.givers += other.givers
    _number(given, one, one.number)


def _number(given: list[list[int | None]], barrier: _Barrier, number: int) -> None:
    barrier.number = number
    for pc, which in barrier.givers:
        given[pc][which] = number


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
