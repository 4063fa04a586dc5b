"""Static scheduling for one warp, after Tan et al. (SC'11, section 4.3): find stalls, and places with fewer of them.

The model: a warp issues an instruction every `issue_interval` cycles, unless a register that it reads or writes is not
ready yet (`last_raw`) or one that it writes has not been read yet (`last_war`); then it stalls. Nothing is shared with
other warps. The objective is the sum of all stalls. Latencies come as a table by mnemonic: the module knows no machine.

A stream that repeats is the body of a loop: results pending at its end are also pending at its start, and the stalls
are those of a round in the steady state. The paper follows only the straight stream, in which both halves are alike.

Many orders are followed at once, each as one column of the two tables: all places of an instruction are compared, and
`best_places` places several instructions together. That search is exact without trying all orders: if in one of two
orders of the same instructions nothing is ready or read later than in the other, it never ends later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from isa.dataflow.flow import reads, writes
from isa.instruction import Instruction

ROUNDS = 32  # most rounds of a loop until the pending state recurs; usually two or three
NOW = 0  # row of the tables: earliest next issue of the warp
Tables = NDArray[np.int64]  # [NOW, last_raw by name, last_war by name; order], cycles
Walk = Callable[[Tables], None]


@dataclass(frozen=True, slots=True)
class Latency:
    """Cycles from issue until results are ready, and until sources have been read (0: nothing waits for that)."""

    raw: int
    war: int = 0


@dataclass(frozen=True, slots=True)
class Latencies:
    """Latencies by mnemonic, and the cycles between two issues of a warp."""

    of: Mapping[str, Latency]
    issue_interval: int


def stalls(instructions: Sequence[Instruction], latencies: Latencies) -> list[int]:
    """Return the cycles for which each instruction of a straight stream waits, in the units of the table."""
    model = _model(latencies, instructions)
    tables, steps = model.tables(1), model.steps(instructions)
    return [int(issue - ready) for ready, issue in _followed(tables, steps, latencies.issue_interval)]


def total(instructions: Sequence[Instruction], latencies: Latencies, *, repeats: bool = False) -> Fraction:
    """Return the sum of stalls of a stream, per round if it repeats, in the units of the table."""
    model = _model(latencies, instructions)
    steps = model.steps(instructions)

    def walk(tables: Tables) -> None:
        for step in steps:
            _issue(tables, step, latencies.issue_interval)

    (time,) = _times(walk, model.tables(1), repeats)
    return time - len(instructions) * latencies.issue_interval


def totals(
    stream: Sequence[Instruction],
    instruction: Instruction,
    latencies: Latencies,
    places: Sequence[int],
    *,
    repeats: bool = False,
) -> list[Fraction]:
    """Return by place the sum of stalls with the instruction before that one of the stream."""
    model = _model(latencies, [*stream, instruction])
    *steps, moved = model.steps([*stream, instruction])
    column = {place: slice(c, c + 1) for c, place in enumerate(places)}

    def walk(tables: Tables) -> None:
        for place in range(len(steps) + 1):
            if place in column:
                _issue(tables[:, column[place]], moved, latencies.issue_interval)
            if place < len(steps):
                _issue(tables, steps[place], latencies.issue_interval)

    least = (len(stream) + 1) * latencies.issue_interval
    return [time - least for time in _times(walk, model.tables(len(places)), repeats)]


def best_places(
    stream: Sequence[Instruction],
    instructions: Sequence[Instruction],
    latencies: Latencies,
    allowed: Sequence[range] | None = None,
    before: Iterable[Instruction] = (),
) -> tuple[int, ...]:
    """Return the places in the stream at which the instructions together make the sum of stalls least.

    They keep their order. `allowed` are the places of each, by default all; `before` has issued before the stream. Of
    several best results it always returns the same one. Raises ValueError if the instructions can't be placed in their
    order.
    """
    ranges = allowed or [range(len(stream) + 1)] * len(instructions)
    known = [*before]
    model = _model(latencies, chain(known, stream, instructions))
    start, steps, moved = model.tables(1), model.steps(stream), model.steps(instructions)
    for _ in _followed(start, model.steps(known), latencies.issue_interval):
        pass
    fronts = [_Front(start, [()]), *(_Front(start[:, :0], []) for _ in instructions)]
    for place in range(len(stream) + 1):
        for done, (step, allowed_here) in enumerate(zip(moved, ranges, strict=True)):
            if place in allowed_here:
                fronts[done + 1] = _with(fronts[done + 1], fronts[done], step, place, latencies.issue_interval)
        if place < len(stream):
            for front in fronts:
                _issue(front.tables, steps[place], latencies.issue_interval)
    ends = sorted(zip(fronts[-1].tables[NOW].tolist(), fronts[-1].places, strict=True))
    if not ends:
        raise ValueError("no place is left for the instructions in their order")
    return ends[0][1]


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """An instruction as rows of the tables: those it waits for, those it writes, and those it reads until later."""

    waits: NDArray[np.int64]
    raws: NDArray[np.int64]
    wars: NDArray[np.int64]
    raw: int
    war: int


@dataclass(frozen=True, slots=True)
class _Model:
    latencies: Latencies
    row: Mapping[str, int]

    def tables(self, orders: int) -> Tables:
        """Return tables with nothing pending, for so many orders."""
        return np.zeros((1 + 2 * len(self.row), orders), np.int64)

    def steps(self, instructions: Iterable[Instruction]) -> list[_Step]:
        return [self._step(i, self.latencies.of[i.row.mnemonic]) for i in instructions]

    def _step(self, instruction: Instruction, latency: Latency) -> _Step:
        read, written = (sorted(self.row[name] for name in f(instruction)) for f in (reads, writes))
        held = len(self.row)
        waits = [NOW, *sorted({*read, *written}), *(held + row for row in written)]
        wars = [held + row for row in read] if latency.war else []
        return _Step(np.array(waits), np.array(written, np.int64), np.array(wars, np.int64), latency.raw, latency.war)


def _model(latencies: Latencies, instructions: Iterable[Instruction]) -> _Model:
    names = dict.fromkeys(name for i in instructions for name in sorted(reads(i) | writes(i)))
    return _Model(latencies, {name: row for row, name in enumerate(names, 1)})


def _issue(tables: Tables, step: _Step, issue_interval: int) -> NDArray[np.int64]:
    """Let the instruction issue in each order; return when."""
    issue: NDArray[np.int64] = tables[step.waits].max(axis=0)
    if step.raws.size:
        tables[step.raws] = issue + step.raw
    if step.wars.size:
        tables[step.wars] = np.maximum(tables[step.wars], issue + step.war)
    tables[NOW] = issue + issue_interval
    return issue


def _followed(tables: Tables, steps: Iterable[_Step], issue_interval: int) -> Iterator[tuple[int, int]]:
    """Follow one order; yield for each instruction when it might have issued, and when it did."""
    for step in steps:
        ready = int(tables[NOW, 0])
        yield ready, int(_issue(tables, step, issue_interval)[0])


def _times(walk: Walk, tables: Tables, repeats: bool) -> list[Fraction]:
    """Return the cycles of one walk in each order; if the stream repeats, of a round in the steady state."""
    ends, states = [tables[NOW].copy()], [_pending(tables)]
    periods = np.zeros(tables.shape[1], np.int64)
    while len(ends) == 1 or (repeats and (periods == 0).any() and len(ends) <= ROUNDS):
        walk(tables)
        ends.append(tables[NOW].copy())
        states.append(_pending(tables))
        for lag in range(1, len(states)):
            periods[(periods == 0) & (states[-1] == states[-1 - lag]).all(axis=0)] = lag
    periods[periods == 0] = 1
    return [
        Fraction(int(ends[-1][c] - ends[-1 - min(int(lag), len(ends) - 1)][c]), int(lag))
        for c, lag in enumerate(periods if repeats else np.ones_like(periods))
    ]


def _pending(tables: Tables) -> Tables:
    """Return the remaining waits of a warp, in cycles from its earliest next issue."""
    pending: Tables = np.maximum(tables - tables[NOW], 0)
    return pending


@dataclass(slots=True)
class _Front:
    """Orders of the same instructions, none of which is better than another in all pending times."""

    tables: Tables
    places: list[tuple[int, ...]]  # of the moved instructions so far


def _with(front: _Front, source: _Front, step: _Step, place: int, issue_interval: int) -> _Front:
    """Return the front extended by the orders of the source with the next instruction at this place."""
    new = source.tables.copy()
    _issue(new, step, issue_interval)
    places = [*front.places, *((*before, place) for before in source.places)]
    tables = np.concatenate((front.tables, new), axis=1)
    late = np.maximum(tables, tables[NOW])
    kept = _undominated(late, places)
    return _Front(tables[:, kept], [places[c] for c in kept])


def _undominated(late: Tables, places: Sequence[tuple[int, ...]]) -> list[int]:
    """Return the columns that no other undercuts in all rows; of equal ones, the one with the first places."""
    kept: list[int] = []
    for c in sorted(range(len(places)), key=lambda c: (int(late[NOW, c]), int(late[:, c].sum()), places[c])):
        if not (late[:, kept] <= late[:, c : c + 1]).all(axis=0).any():
            kept.append(c)
    return kept
