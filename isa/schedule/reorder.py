"""Reorder a program without changing its results, and search for orders with fewer stalls (static scheduling).

Labels, branches and exits divide a program into regions; a region that ends with a branch to its own start repeats.
Within its region an instruction may change places with another unless the two are bound:

* one writes a register or predicate that the other reads or writes;
* both access the same memory and one stores, unless they never conflict (gpusim/engines/walks/disjoint.py);
* one is a barrier and the other a barrier or an access to memory that other warps see, or one is a control instruction;
* both are accesses that S_WAITCNT counts.

A dependence through a loop's branch needs no care: a moved instruction stays in its round.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from isa.dataflow.flow import reads, writes
from isa.instruction import Instruction
from isa.operands.operand import Label, Register
from isa.program import Program
from isa.row import LOAD_UNITS, Flow, Unit, memory_of
from isa.schedule.schedule import Latencies, best_places, total, totals

MOST_TOGETHER = 8  # accesses that are placed together: the search grows with each
Disjoint = Collection[tuple[int, int]]  # pairs of pcs, the smaller first
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Region:
    """A region from pc `first` on, free to reorder except that `before[i]` and `after[i]` are bound to i."""

    first: int
    code: tuple[Instruction, ...]
    repeats: bool
    before: tuple[frozenset[int], ...]
    after: tuple[frozenset[int], ...]


def regions(program: Program, disjoint: Disjoint = ()) -> list[Region]:
    """Return the regions of a program in its order; the accesses of each pair of `disjoint` never conflict."""
    counted = any(i.row.flow is Flow.AWAIT for i in program.instructions)
    return [_region(program, first, end, () if counted else disjoint, counted) for first, end in spans(program)]


def spans(program: Program) -> list[tuple[int, int]]:
    """Return the start and the end of each region, the end excluded."""
    code = program.instructions
    behind = {pc + 1 for pc, i in enumerate(code) if i.row.is_branch or i.row.is_exit}
    return list(pairwise(sorted({0, len(code), *behind, *program.labels.values()})))


def places(region: Region, order: Sequence[int], index: int) -> range:
    """Return the places among the others of an order at which instruction `index` of the region may be."""
    others = [each for each in order if each != index]
    first = max((at + 1 for at, each in enumerate(others) if each in region.before[index]), default=0)
    last = min((at for at, each in enumerate(others) if each in region.after[index]), default=len(others))
    return range(first, last + 1)


def put(order: Sequence[int], index: int, place: int) -> list[int]:
    """Return the order with instruction `index` before the other one at that place."""
    others = [each for each in order if each != index]
    return [*others[:place], index, *others[place:]]


def reordered(program: Program, order: Sequence[int]) -> Program:
    """Return the program with its instructions in the order of their old pcs.

    Control codes and reuse flags fit one order only, so they are dropped unless the order is unchanged.
    """
    if list(order) == list(range(len(program))):
        return program
    origins = tuple(program.origins[pc] for pc in order) if program.origins else ()
    code = tuple(_uncoded(program.instructions[pc]) for pc in order)
    return replace(program, instructions=code, origins=origins)


def moved(order: Sequence[int]) -> frozenset[int]:
    """Return the fewest old pcs whose removal leaves the others in the order of the program."""
    tails, previous = list[int](), dict[int, int]()  # lowest end of a rising sequence, by its length (patience sorting)
    for pc in order:
        at = bisect_left(tails, pc)
        tails[at : at + 1] = [pc]
        previous[pc] = tails[at - 1] if at else -1
    kept, pc = set[int](), tails[-1] if tails else -1
    while pc >= 0:
        kept.add(pc)
        pc = previous[pc]
    return frozenset(order) - kept


def static_stalls(program: Program, latencies: Latencies) -> Fraction:
    """Return the sum of stalls of a warp that runs each region once; for a loop, a round of its steady state."""
    return sum((_cost(region, range(len(region.code)), latencies) for region in regions(program)), Fraction(0))


def improved(
    program: Program, latencies: Latencies, disjoint: Disjoint = (), tell: Progress | None = None, *, together: int = 1
) -> tuple[int, ...]:
    """Return an order, as old pcs, in which the memory instructions and barriers of each region stall one warp least.

    They move one at a time, then global fetches and the stores of their data together, then each so many neighbouring
    loads from shared memory `together`, until a round over all gains nothing; the stalls of no region grow.
    `tell(done, total)` is called after each region.
    """
    found, order = regions(program, disjoint), list[int]()
    for done, region in enumerate(found, 1):
        order += [region.first + index for index in _settled(region, latencies, together)]
        if tell:
            tell(done, len(found))
    return tuple(order)


@dataclass(frozen=True, slots=True)
class _Facts:
    """The constraints of an instruction: registers and predicates read and written, as masks, and its other bonds."""

    reads: int
    writes: int
    memories: frozenset[Unit]  # that it may access
    stores: bool
    is_barrier: bool
    is_fence: bool


def _region(program: Program, first: int, end: int, disjoint: Disjoint, counted: bool) -> Region:
    code = program.instructions[first:end]
    bits: dict[str, int] = {}
    facts = [_facts(program, i, bits) for i in code]
    pairs = [
        (i, j)
        for j in range(len(code))
        for i in range(j)
        if _by_register(facts[i], facts[j])
        or (_bound(facts[i], facts[j], counted) and (first + i, first + j) not in disjoint)
    ]
    before, after = ([set[int]() for _ in code] for _ in range(2))
    for i, j in pairs:
        before[j].add(i)
        after[i].add(j)
    return Region(
        first, code, _repeats(program, first, code), tuple(map(frozenset, before)), tuple(map(frozenset, after))
    )


def _repeats(program: Program, first: int, code: Sequence[Instruction]) -> bool:
    target = code[-1].operands[0] if code[-1].row.is_branch else None
    return isinstance(target, Label) and program.labels[target.name] == first


def _facts(program: Program, instruction: Instruction, bits: dict[str, int]) -> _Facts:
    read, written = (sum(1 << bits.setdefault(n, len(bits)) for n in f(instruction)) for f in (reads, writes))
    unit = instruction.row.unit
    return _Facts(
        reads=read,
        writes=written,
        memories=program.memories(instruction.row) if unit in LOAD_UNITS else frozenset(),
        stores=instruction.row.is_store or instruction.row.copies,
        is_barrier=unit is Unit.BARRIER,
        is_fence=unit is Unit.CONTROL,
    )


def _by_register(one: _Facts, other: _Facts) -> bool:
    return bool(one.writes & (other.reads | other.writes) or one.reads & other.writes)


def _bound(one: _Facts, other: _Facts, counted: bool) -> bool:
    """Tell whether two instructions must keep their order for a reason other than registers."""
    if one.is_fence or other.is_fence or (one.is_barrier and other.is_barrier):
        return True
    if one.is_barrier or other.is_barrier:
        return (one.memories | other.memories) - {Unit.LOCAL} != set()
    if not one.memories or not other.memories:
        return False
    return counted or (bool(one.memories & other.memories) and (one.stores or other.stores))


def _uncoded(instruction: Instruction) -> Instruction:
    operands = tuple(replace(o, reuse=False) if isinstance(o, Register) else o for o in instruction.operands)
    return replace(instruction, operands=operands, control=None)


def _settled(region: Region, latencies: Latencies, together: int) -> list[int]:
    """Move the movable instructions of a region until no move helps."""
    order, before = list(range(len(region.code))), None
    movable = [i for i, each in enumerate(region.code) if each.row.unit in LOAD_UNITS | {Unit.BARRIER}]
    while before is None or _cost(region, order, latencies) < before:
        before = _cost(region, order, latencies)
        for index in movable:
            order = _better(region, order, index, latencies)
        for group in _fetched(region, order):
            order = _better_together(region, order, group, latencies)
        for first in range(_neighbours(region, order, together)):
            loads = _shared_loads(region, order)[first : first + together]
            order = _better_together(region, order, loads, latencies)
    return order


def _neighbours(region: Region, order: Sequence[int], together: int) -> int:
    """Return how many groups of so many neighbouring shared loads a region has; none of a single load."""
    return max(0, len(_shared_loads(region, order)) - together + 1) if together > 1 else 0


def _shared_loads(region: Region, order: Sequence[int]) -> list[int]:
    rows = ((index, region.code[index].row) for index in order)
    return [index for index, row in rows if row.is_load and row.unit is Unit.SHARED]


def _cost(region: Region, order: Sequence[int], latencies: Latencies) -> Fraction:
    return total([region.code[index] for index in order], latencies, repeats=region.repeats)


def _better(region: Region, order: list[int], index: int, latencies: Latencies) -> list[int]:
    """Return the order with one instruction at the place of least stalls; the same order if nothing is gained."""
    where = places(region, order, index)
    others = [region.code[each] for each in order if each != index]
    sums = totals(others, region.code[index], latencies, where, repeats=region.repeats)
    here = sums[order.index(index) - where.start]
    return put(order, index, where[sums.index(min(sums))]) if min(sums) < here else order


def _fetched(region: Region, order: Sequence[int]) -> list[list[int]]:
    """Return the accesses to global memory and the stores of their data, between barriers, in their order."""
    groups: list[list[int]] = [[]]
    for index in order:
        row = region.code[index].row
        loads = row.is_load and memory_of(row.unit) is Unit.GLOBAL
        if row.unit is Unit.BARRIER:
            groups.append([])
        elif loads or (row.is_store and any(region.code[i].row.is_load for i in region.before[index] & {*groups[-1]})):
            groups[-1].append(index)
    return [group[:MOST_TOGETHER] for group in groups if len(group) > 1]


def _better_together(region: Region, order: list[int], group: Sequence[int], latencies: Latencies) -> list[int]:
    rest = [index for index in order if index not in group]
    allowed = [places(region, [*rest, index], index) for index in group]
    code = [region.code[index] for index in rest]
    known = [region.code[index] for index in order] if region.repeats else []
    where = best_places(code, [region.code[index] for index in group], latencies, allowed, known)
    new = list(rest)
    for index, place in reversed(list(zip(group, where, strict=True))):
        new.insert(place, index)
    return new if _cost(region, new, latencies) < _cost(region, order, latencies) else order
