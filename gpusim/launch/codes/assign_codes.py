"""Assign control codes to a program that has none, from a machine's latencies: correct on every path, not optimal.

The pass follows pending results and reads through the program, and keeps before each instruction:

* for a result of fixed latency, the most cycles until it is written: the instruction before its reader gets a stall
  count;
* for any other result, and for one later than a stall count reaches, that it is in flight: its reader waits for its
  write barrier;
* for sources of a memory instruction that are overwritten later, that they may not have been read: the overwriting
  instruction waits for the read barrier, unless something has already waited for the result, which comes after the
  read.

Where paths join, the later time counts, and what is in flight on any of them is in flight. If six barriers are not
enough, `gpusim.launch.codes.share_barriers` says which signals share one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from gpusim.launch.codes.share_barriers import READ, WRITE, Signal, Signals, barriers, bits, under_way
from gpusim.launch.memory_costs import memory_costs
from gpusim.machine.machine import Machine
from gpusim.sm.front.dispatch.declaration import pairs
from gpusim.sm.pipes.pipe.declaration import choices, latency
from gpusim.sm.registers.control_code.declaration import by_codes
from gpusim.sm.unit.asks import through_port
from isa.dataflow.flow import reads, successors, writes
from isa.dataflow.waits.shared_barriers import SharedBarrier, shared_barriers
from isa.instruction import Instruction
from isa.nvidia.control import BARRIERS, MOST_STALL, Control
from isa.program import Program
from isa.row import MEMORY_UNITS, Row, Unit

COVERED = 2  # beside READ and WRITE: names of results that come only after their sources have been read
FAR = frozenset({Unit.GLOBAL, Unit.LOCAL, Unit.TEXTURE})  # memories whose results come after an unknown time


@dataclass(slots=True)
class Pending:
    """The state before an instruction: cycles until each name is written, and the mask of signals in flight."""

    cycles: dict[str, int] = field(default_factory=dict)
    signals: int = 0


@dataclass(frozen=True, slots=True)
class _Facts:
    """Facts that stay the same while the program is followed, by pc."""

    after: Sequence[tuple[int, ...]]
    touched: Sequence[frozenset[str]]  # read or written
    writes: Sequence[frozenset[str]]
    fixed: Sequence[int]  # latency; 0 if a barrier signals the result
    least: Sequence[int]  # stall count
    signals: Signals
    barrier: Mapping[int, int]  # of each signal that has a barrier
    on: Sequence[int]  # mask of signals, by barrier


def has_codes(program: Program) -> bool:
    """Tell whether the program has control codes of its own."""
    return any(instruction.control for instruction in program.instructions)


def with_codes(program: Program, machine: Machine) -> Program:
    """Return the program with control codes: its own, or assigned ones if it has none."""
    if has_codes(program):
        return program
    facts = _facts(program, machine)
    before = _followed(facts)
    coded = [
        replace(instruction, control=_code(facts, before[pc], pc))
        for pc, instruction in enumerate(program.instructions)
    ]
    return replace(program, instructions=tuple(coded))


def sharing(program: Program, machine: Machine) -> dict[int, tuple[SharedBarrier, ...]]:
    """Return by pc the further signals for which instructions may wait on the same barrier; nothing without codes."""
    return shared_barriers(with_codes(program, machine)) if by_codes(machine) else {}


def fixed_latency(instruction: Instruction, machine: Machine) -> int:
    """Return the latency of the result if it is fixed and within reach of a stall count, else 0."""
    unit = instruction.row.unit
    assert machine.dependence is not None
    if _queues(unit, machine) or unit not in machine.unit or unit in machine.dependence.variable.split():
        return 0
    cycles = latency(machine, instruction.row)
    return cycles if cycles <= MOST_STALL else 0


def _queues(unit: Unit, machine: Machine) -> bool:
    """Tell whether the unit class waits in a queue, so that the time at which its sources are read is unknown."""
    return unit in MEMORY_UNITS - {Unit.TEXTURE} or through_port(machine, unit)


def _facts(program: Program, machine: Machine) -> _Facts:
    code = program.instructions
    written = [frozenset(writes(i)) for i in code]
    touched = [frozenset(reads(i)) | names for i, names in zip(code, written, strict=True)]
    fixed = [fixed_latency(i, machine) for i in code]
    after, signals = successors(program), _signals(program, machine, touched, written, fixed)
    barrier = barriers(program, signals, under_way(signals, after))
    on = [0] * BARRIERS
    for one, number in barrier.items():
        on[number] |= 1 << one
    return _Facts(after, touched, written, fixed, _least(program, machine), signals, barrier, on)


def _signals(
    program: Program,
    machine: Machine,
    touched: Sequence[frozenset[str]],
    written: Sequence[frozenset[str]],
    fixed: Sequence[int],
) -> Signals:
    """Return the signals that may need barriers: results without fixed latency, and sources read at an unknown time."""
    found, masks, costs = list[Signal](), _Masks(), _costs(program, machine)
    given, free = [0] * len(program), 0
    for pc, instruction in enumerate(program.instructions):
        cost = costs[instruction.row.mnemonic]
        late = max(0, free - pc)
        free = pc + late + cost.service if cost.service else free
        results = written[pc] if not fixed[pc] else frozenset[str]()
        for signal, names in _signals_of(pc, instruction, machine, cost, late, results):
            bit = 1 << len(found)
            found.append(signal)
            given[pc] |= bit
            masks.add(signal.kind, names, bit)
            if signal.kind == READ and cost.ordered:
                masks.add(COVERED, written[pc], bit)
    covered = [masks.of(COVERED, names) for names in touched]
    needed = [masks.of(WRITE, names) | masks.of(READ, names & own) for names, own in zip(touched, written, strict=True)]
    over = [mask | more for mask, more in zip(needed, covered, strict=True)]
    return Signals(found, [mask & ~more for mask, more in zip(needed, covered, strict=True)], over, given)


def _signals_of(
    pc: int, instruction: Instruction, machine: Machine, cost: _Cost, late: int, written: frozenset[str]
) -> Iterator[tuple[Signal, frozenset[str]]]:
    """Yield the signals of an instruction and their names; `written`: the names that it writes at an unknown time.

    `late`: cycles for which this warp's earlier instructions keep the queue busy.
    """
    unit = instruction.row.unit
    queues = _queues(unit, machine)
    if queues:
        yield (
            Signal(pc, READ, unit, False, cost.war + late),
            frozenset(f"R{register}" for register in instruction.reads()),
        )
    if written:
        yield Signal(pc, WRITE, unit, unit in FAR, cost.result + late * queues), written


class _Cost(NamedTuple):
    """Cycles until the result is there, and until the sources have been read, for an instruction served at once.

    `service`: cycles for which it occupies the queue, without conflicts; 0 if it enters none. `ordered`: the sources
    have always been read when the result is there.
    """

    result: int
    war: int
    service: int
    ordered: bool


def _costs(program: Program, machine: Machine) -> dict[str, _Cost]:
    """Return the costs of the program's instructions, by mnemonic."""
    rows = {i.row.mnemonic: i.row for i in program.instructions}
    return {mnemonic: _cost(row, machine) for mnemonic, row in rows.items()}


def _cost(form: Row, machine: Machine) -> _Cost:
    if not _queues(form.unit, machine):
        return _Cost(_latency(form, machine), 0, 0, False)
    port = machine.memory_port
    service = form.source.words * (port.cycles if port else 1)
    if form.unit not in MEMORY_UNITS:
        result, war = _latency(form, machine), machine.shared_memory.war_32
        return _Cost(result, war, service, max(1, war) <= result)
    result, war = memory_costs(form, machine)
    early = getattr(port, f"early_{form.path_width}", 0) if form.unit is Unit.SHARED else 0
    return _Cost(result, war, service, form.update is None and max(1, war) <= result - early)


def _latency(form: Row, machine: Machine) -> int:
    if form.unit is Unit.TEXTURE:
        return machine.texture.latency
    return latency(machine, form)


@dataclass(frozen=True, slots=True)
class _Masks:
    """Masks of signals, by kind and name."""

    of_names: dict[tuple[int, str], int] = field(default_factory=dict)

    def add(self, kind: int, names: Iterable[str], bit: int) -> None:
        for name in names:
            self.of_names[kind, name] = self.of_names.get((kind, name), 0) | bit

    def of(self, kind: int, names: Iterable[str]) -> int:
        mask = 0
        for name in names:
            mask |= self.of_names.get((kind, name), 0)
        return mask


def _least(program: Program, machine: Machine) -> list[int]:
    """Return the least stall counts: 0 if the next instruction may issue in the same turn, else 1."""
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
    """Return what may be pending before each instruction, on any path."""
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
    """Return what is pending when the next instruction may issue."""
    stall, over = _stall(facts, before, pc), facts.signals.over[pc]
    for barrier in _waits(facts, before, pc):
        over |= facts.on[barrier]
    cycles = {name: left - stall for name, left in _left(facts, before, pc).items() if left > stall}
    return Pending(cycles, before.signals & ~over | facts.signals.given[pc])


def _left(facts: _Facts, before: Pending, pc: int) -> dict[str, int]:
    """Return the cycles from this issue until each name is written."""
    own = dict.fromkeys(facts.writes[pc], facts.fixed[pc]) if facts.fixed[pc] else {}
    return {**before.cycles, **{name: max(cycles, before.cycles.get(name, 0)) for name, cycles in own.items()}}


def _stall(facts: _Facts, before: Pending, pc: int) -> int:
    """Return the stall count: cycles until the names that a later instruction touches are written."""
    left = _left(facts, before, pc)
    touched = (name for after in facts.after[pc] for name in facts.touched[after])
    return max([facts.least[pc], *(left.get(name, 0) for name in touched)])


def _waits(facts: _Facts, before: Pending, pc: int) -> set[int]:
    """Return the barriers for which the instruction waits."""
    return {facts.barrier[one] for one in bits(before.signals & facts.signals.needed[pc])}


def _joined(into: Pending, other: Pending) -> bool:
    """Add what is pending on one more path; tell whether this changes anything."""
    news = bool(other.signals & ~into.signals)
    into.signals |= other.signals
    for name, cycles in other.cycles.items():
        if cycles > into.cycles.get(name, 0):
            into.cycles[name], news = cycles, True
    return news


def _code(facts: _Facts, before: Pending, pc: int) -> Control:
    own = {facts.signals.all[one].kind: facts.barrier.get(one) for one in bits(facts.signals.given[pc])}
    waits = sum(1 << barrier for barrier in _waits(facts, before, pc))
    return Control(_stall(facts, before, pc), False, own.get(READ), own.get(WRITE), waits)
