"""Static scheduling for one warp, after Tan et al. (SC'11, section 4.3): when instructions stall, and better orders.

The model: a warp issues an instruction every `reissue` cycles, unless a register that it reads or writes is not there
yet (`raw`) or one that it writes has not been read yet (`war`); then it stalls. Nothing is shared with other warps. The
objective is the sum of all stalls. Latencies come as a table by mnemonic: no machine is known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from isa.flow import reads, writes
from isa.instruction import Instruction
from isa.program import Program
from isa.table import MEMORY_UNITS, Unit

ORDERED = frozenset({Unit.BARRIER, Unit.CONTROL, Unit.SPECIAL})  # of which none moves, and past which nothing does
Told = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Latency:
    """Cycles from issue until results are there, and until sources have been read (0: nobody has to wait for that)."""

    raw: int
    war: int = 0


@dataclass(frozen=True, slots=True)
class Latencies:
    """By mnemonic, and the cycles from one issue of a warp to its next."""

    of: Mapping[str, Latency]
    reissue: int


def stalls(instructions: Sequence[Instruction], latencies: Latencies) -> list[int]:
    """Return the cycles for which each instruction of a straight stream waits, in the units of the table."""
    return list(_stalls(_steps(instructions, latencies), latencies.reissue))


def best_place(
    stream: Sequence[Instruction],
    instruction: Instruction,
    latencies: Latencies,
    first: int = 0,
    last: int | None = None,
) -> int:
    """Return before which of the stream the instruction makes the sum of stalls least, the first of equal places.

    Tried are all places from `first` to `last`, which is the end unless given. Whether it may stand there is the
    caller's business.
    """
    steps, (step,) = list(_steps(stream, latencies)), _steps([instruction], latencies)
    places = range(first, len(stream) + 1 if last is None else last + 1)
    return min(places, key=lambda at: _total([*steps[:at], step, *steps[at:]], latencies.reissue))


def improved(program: Program, latencies: Latencies, tell: Told | None = None) -> Program:
    """Return the program with its memory instructions where the sum of stalls is least, one after the other.

    Each moves between the labels, branches and barriers around it as far as registers and predicates allow; stores and
    atomics keep their order among the accesses to the same memory. Until a round over all of them gains nothing.
    `tell(done, total)` is called behind each straight part. Control codes, which fit one order only, are dropped.
    """
    code = [replace(i, control=None) for i in program.instructions]
    parts = list(pairwise(_ends(program)))
    for done, (first, last) in enumerate(parts, 1):
        code[first:last] = _settled(code[first:last], latencies)
        if tell:
            tell(done, len(parts))
    return replace(program, instructions=tuple(code))


@dataclass(frozen=True, slots=True)
class _Step:
    reads: frozenset[str]
    writes: frozenset[str]
    raw: int
    war: int


def _steps(instructions: Iterable[Instruction], latencies: Latencies) -> Iterator[_Step]:
    for i in instructions:
        latency = latencies.of[i.row.mnemonic]
        yield _Step(frozenset(reads(i)), frozenset(writes(i)), latency.raw, latency.war)


def _stalls(steps: Iterable[_Step], reissue: int) -> Iterator[int]:
    now, there, read = 0, dict[str, int](), dict[str, int]()
    for step in steps:
        issue = now
        for name in step.reads:
            issue = max(issue, there.get(name, 0))
        for name in step.writes:
            issue = max(issue, there.get(name, 0), read.get(name, 0))
        for name in step.writes:
            there[name] = issue + step.raw
        if step.war:
            read |= {name: max(read.get(name, 0), issue + step.war) for name in step.reads}
        yield issue - now
        now = issue + reissue


def _total(steps: Iterable[_Step], reissue: int) -> int:
    return sum(_stalls(steps, reissue))


def _ends(program: Program) -> list[int]:
    """Where straight parts begin and end: at labels, and on both sides of what nothing moves past."""
    ends = {0, len(program), *program.labels.values()}
    fixed = [pc for pc, i in enumerate(program.instructions) if i.row.unit in ORDERED]
    return sorted(ends | set(fixed) | {pc + 1 for pc in fixed})


def _settled(part: list[Instruction], latencies: Latencies) -> list[Instruction]:
    """Move the memory instructions of a straight part until no move helps."""
    before = None
    while before is None or sum(stalls(part, latencies)) < before:
        before = sum(stalls(part, latencies))
        for instruction in [i for i in part if i.row.unit in MEMORY_UNITS]:
            part = _moved(part, instruction, latencies)
    return part


def _moved(part: list[Instruction], instruction: Instruction, latencies: Latencies) -> list[Instruction]:
    at = next(index for index, each in enumerate(part) if each is instruction)
    others = [*part[:at], *part[at + 1 :]]
    first = next((i + 1 for i in range(at - 1, -1, -1) if _bound(others[i], instruction)), 0)
    last = next((i for i in range(at, len(others)) if _bound(instruction, others[i])), len(others))
    place = best_place(others, instruction, latencies, first, last)
    moved = [*others[:place], instruction, *others[place:]]
    return moved if sum(stalls(moved, latencies)) < sum(stalls(part, latencies)) else part


def _bound(before: Instruction, after: Instruction) -> bool:
    """Whether the second instruction has to stay behind the first."""
    if writes(before) & (reads(after) | writes(after)) or reads(before) & writes(after):
        return True
    same_memory = before.row.unit is after.row.unit and before.row.unit in MEMORY_UNITS
    return same_memory and (before.row.is_store or after.row.is_store)
