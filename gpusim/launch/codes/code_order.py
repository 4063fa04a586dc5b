"""Proof that control codes keep a program's order: then no result needs to be kept aside until it is ready.

A forward data flow over what is in flight: results not written, each until some cycles have passed or a barrier has
been waited for, and sources that queued instructions have not read. Paths are merged by union. An instruction that, on
any path, needs or overwrites something still in flight ends the proof: the program may have a hazard, and is run with
results in flight (sm/registers/in_flight/in_flight.py), which records it.

Two issues are at least the stall count apart, so other delays of a warp keep the proof right. Lanes that wait while
others run only gain time.

A warp's queued instructions read their sources in order, and its loads from shared memory come back in order. So a
later one's barrier covers earlier ones that have none. Registers that a warp's lanes share are read at issue: ptxas
lets them be overwritten without a wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from gpusim.sm.unit.capacities import NEVER, REGISTERS
from gpusim.sm.unit.opcodes import LOAD, SHARED_MEMORY
from isa.dataflow.flow import successors
from isa.operands.operand import PT_INDEX
from isa.program import Program
from isa.support.bulk import without_collection

# Cycles until it is over by itself; the barriers any of which tells that it is. Of a source, then, the cycles from its
# service to its read; of a result, whether it is a load's from shared memory.
Pending = tuple[int, int, int]
Names = int  # a set: bit r is register r, bit REGISTERS + p is predicate p
State = tuple[Mapping[Pending, Names], Mapping[Pending, Names]]  # written, read
_OF_REGISTERS = (1 << REGISTERS) - 1


class Step(NamedTuple):
    """What the proof needs of an instruction.

    `later`: cycles after issue at which operands are read. `result`: until its result is written, by cycles or barriers
    (None: at once). `sources`: until its sources have been read (None: at issue). `write` and `read` are the masks of
    its barriers, told `latency` and `war` cycles after its service; `loads`: it loads from shared memory;
    `uniform`: its results are one for all lanes.
    """

    waits: int
    reads: Names
    writes: Names
    later: int
    stall: int
    result: Pending | None
    sources: Pending | None
    write: int
    read: int
    latency: int
    war: int
    loads: bool
    uniform: bool


class _Row(NamedTuple):
    """The numbers of a decoded row that the proof needs, by the names of their fields."""

    wait_mask: int
    read: list[int]
    reads: int
    write: list[int]
    writes: int
    guard: int
    selector: int
    selectors: list[int]
    predicate: int
    second_predicate: int
    more_predicates: list[int]
    queued: int
    pipe: int
    uniform: int
    action: int
    memory_kind: int
    latency: int
    sooner: int
    war: int
    stall_count: int
    yields: int
    read_barrier: int
    write_barrier: int
    reads_later: int


@without_collection()
def keeps_order(program: Program, rows: Any, yield_stall: int) -> bool:
    """Tell whether no instruction can meet an unwritten result, or a source not read; `rows` are the decoded ones.

    `yield_stall` is the least number of cycles behind an instruction that yields.
    """
    columns = (rows[name][: len(program)].tolist() for name in _Row._fields)
    steps = [_step(_Row(*row), yield_stall) for row in zip(*columns, strict=True)]
    onward = successors(program)
    before: list[State | None] = [None] * len(steps)
    todo: list[tuple[int, State]] = [(0, ({}, {}))] if steps else []
    while todo:
        pc, arriving = todo.pop()
        merged = _merged(before[pc], arriving)
        if merged is None:
            continue
        before[pc] = merged
        after = _after(steps[pc], merged)
        if after is None:
            return False
        todo += [(target, after) for target in onward[pc]]
    return True


def _step(row: _Row, yield_stall: int) -> Step:
    predicates = {row.guard, row.selector, *row.selectors} - {-1, PT_INDEX}
    told = {row.predicate, row.second_predicate, *row.more_predicates} - {-1, PT_INDEX}
    write, read = (0 if b < 0 else 1 << b for b in (row.write_barrier, row.read_barrier))
    kept = (row.queued or row.pipe >= 0) and not row.uniform
    loads = row.action == LOAD and row.memory_kind == SHARED_MEMORY
    return Step(
        waits=row.wait_mask,
        reads=_names(row.read[: row.reads], predicates),
        writes=_names(row.write[: row.writes], told),
        later=row.reads_later,
        stall=max(row.stall_count, yield_stall if row.yields else 0),
        result=(NEVER if row.queued else row.latency - row.sooner, write, int(loads)) if kept else None,
        sources=(NEVER, write | read, max(1, row.war)) if row.queued else None,
        write=write,
        read=read,
        latency=row.latency,
        war=max(1, row.war),
        loads=loads,
        uniform=bool(row.uniform),
    )


def _names(registers: Sequence[int], predicates: Iterable[int]) -> Names:
    return reduce(or_, (*(1 << r for r in registers), *(1 << REGISTERS + p for p in predicates)), 0)


def _after(step: Step, state: State) -> State | None:
    """Return what is in flight when the next instruction may issue; None if this one meets a hazard."""
    written, read = (_waited(held, step.waits) for held in state)
    if _is_early(step, written, read):
        return None
    if step.loads:
        written = _joined((_told_result(one, step), names) for one, names in written.items())
    if step.result and step.writes:
        written[step.result] = written.get(step.result, 0) | step.writes
    if step.sources is not None:
        read = _joined((_told_read(one, step), names) for one, names in read.items())
        if names := step.reads & _OF_REGISTERS:
            read[step.sources] = read.get(step.sources, 0) | names
    return _passed(written, step.stall), read


def _is_early(step: Step, written: Mapping[Pending, Names], read: Mapping[Pending, Names]) -> bool:
    """Tell whether an instruction reads or overwrites a result too early, or overwrites a source not read."""
    ends = step.result[0] if step.result else 0
    for (cycles, *_), names in written.items():
        if (cycles > step.later and names & step.reads) or (cycles > ends and names & step.writes):
            return True
    back = step.latency if step.sources else 0  # from its service, which follows that of earlier ones
    return not step.uniform and any(names & step.writes for (*_, war), names in read.items() if war > back)


def _waited(held: Mapping[Pending, Names], mask: int) -> dict[Pending, Names]:
    """Return what is left after a wait for the barriers of a mask."""
    return {one: names for one, names in held.items() if not one[1] & mask}


def _told_result(result: Pending, step: Step) -> Pending:
    """Return a result that the write barrier of a later load also covers, if it is such a load's."""
    cycles, mask, loads = result
    return (cycles, mask | step.write, loads) if loads else result


def _told_read(source: Pending, step: Step) -> Pending:
    """Return a source that the barriers of a later queued instruction also cover, if they come no sooner."""
    cycles, mask, war = source
    write = step.write if step.latency >= war else 0
    return cycles, mask | write | (step.read if step.war >= war else 0), war


def _passed(held: Mapping[Pending, Names], cycles: int) -> dict[Pending, Names]:
    """Return what is left after so many cycles; each result's cycles differ as before, so none become one."""
    return {
        one if one[0] == NEVER else (one[0] - cycles, one[1], one[2]): names
        for one, names in held.items()
        if one[0] > cycles
    }


def _joined(pairs: Iterable[tuple[Pending, Names]]) -> dict[Pending, Names]:
    """Return the names by what is pending, several of which may have become one."""
    found: dict[Pending, Names] = {}
    for one, names in pairs:
        found[one] = found.get(one, 0) | names
    return found


def _merged(known: State | None, arriving: State) -> State | None:
    """Return what may be in flight on either path; None if nothing new has arrived."""
    if known is None:
        return arriving
    written, read = (_joined((*old.items(), *new.items())) for old, new in zip(known, arriving, strict=True))
    return None if (written, read) == known else (written, read)
