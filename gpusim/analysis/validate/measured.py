"""A file of figures measured on a chip beside simulated ones, row by row.

There are two formats. Rows of microbenchmarks have columns exp, op, W, ILP, param, i1, i2, cyc1_med and cyc2_med; rows
of edited machine code have name, kernel, W, cyc1_med and cyc2_med, and ran 4 and 12 iterations. Other columns are
ignored. A figure is the difference of the two times, in cycles, so that time before and after a loop cancels.

A parameter may be fitted only to rows whose key, the columns exp, op, W, ILP and param or name and W joined by `|`, has
an even SHA-256; they are `fitted`, whether one was or not. The other half is `predicted`, and single latencies, which
stand in the machine file, are `input`, and not scored.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from hashlib import sha256
from io import StringIO
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from gpusim.analysis.validate.errors import Errors, errors
from gpusim.engines.simulate import run_sm
from gpusim.launch.feed import TRACE_DRIVEN
from gpusim.machine.machine import Machine
from gpusim.sm.account.record.declaration import ISSUE
from gpusim.support.parallel.processes import processes
from isa.errors import UserError
from isa.kernel import Kernel
from isa.reading import input_file

MICRO = ("exp", "op", "W", "ILP", "param", "i1", "i2", "cyc1_med", "cyc2_med")
EDITED = ("name", "kernel", "W", "cyc1_med", "cyc2_med")
EDITED_COUNTS = 4, 12
LONGEST = 200  # characters of a text that describes the run
MOST = 2**31 - 1  # of warps, chains and iterations, which are signed 32-bit integers on the machine
SCHEDULED = "sched"  # its figures are in `param`
INPUTS = frozenset({"lat", "clk", "memlat"})
MARK = "NOP"
NO_STREAM, NO_TIME = "no stream", "no time measured"


class Probe(Protocol):
    """The kernels that are run for a row; see workloads.measured.probes."""

    @property
    def second(self) -> Kernel:
        """The kernel of the larger count."""

    @property
    def first(self) -> Kernel | None:
        """The kernel of the smaller count; without it the time between the marks of `second` counts."""

    @property
    def per(self) -> int:
        """The divisor of the difference."""

    @property
    def span(self) -> bool:
        """Whether that time covers all warps together, not the median warp."""

    @property
    def hits(self) -> str:
        """The cache in which all loads from global memory hit, or `none`."""


@dataclass(frozen=True)
class MeasuredRow:
    """One measured figure: `cycles` between its two `counts`, and its place in the file."""

    line: int
    experiment: str
    op: str
    param: str
    warps: int
    ilp: int
    counts: tuple[int, int]
    cycles: float
    kind: str


Make = Callable[[MeasuredRow], Probe | None]


@dataclass(frozen=True)
class Outcome:
    """A row and its simulated figure, None if it can't be simulated; then `reason` says why."""

    row: MeasuredRow
    simulated: float | None
    reason: str = ""

    @property
    def error(self) -> float:
        """(simulated - measured) / measured; nan without a simulation."""
        return float("nan") if self.simulated is None else self.simulated / self.row.cycles - 1


def read(path: Path, experiments: Collection[str]) -> list[MeasuredRow]:
    """Return the rows of a measured file; raises UserError with line and column where it isn't one."""
    text = input_file.text(path, "give a file of comma-separated values")
    try:
        return list(_rows(path, csv.reader(StringIO(text), strict=True), experiments))
    except csv.Error as error:
        raise UserError(f"{path}: {error}; give a file of comma-separated values") from None


def outcomes(rows: Sequence[MeasuredRow], machine: Machine, make: Make, workers: int) -> Generator[Outcome, None, None]:
    """Simulate each row, in any order; `make(row)` builds the probe, None if the row has no stream."""
    known = sorted(rows, key=_stream)
    groups = [tuple(group) for _, group in groupby(known, _stream)]
    if workers < 2 or len(groups) < 2:
        yield from (outcome for group in groups for outcome in _group(group, machine, make))
        return
    with processes(min(workers, len(groups))) as pool:
        for done in as_completed([pool.submit(_group, group, machine, make) for group in groups]):
            yield from done.result()


def summary(found: Iterable[Outcome], key: Callable[[MeasuredRow], str]) -> dict[str, Errors]:
    """Return by `key` the errors of the rows that were simulated."""
    by_key: dict[str, list[float]] = {}
    for outcome in sorted((o for o in found if o.simulated is not None), key=lambda o: o.row.line):
        by_key.setdefault(key(outcome.row), []).append(outcome.error)
    return {name: errors(each) for name, each in by_key.items()}


def _rows(path: Path, lines: Any, experiments: Collection[str]) -> Iterator[MeasuredRow]:
    header: list[str] = next(lines, [])
    wanted = EDITED if "name" in header else MICRO
    for column in wanted:
        if column not in header:
            raise UserError(f"{path}:1: column {column} is missing; a measured file has {', '.join(wanted)}")
    for cells in lines:
        if not cells:
            continue
        if len(cells) != len(header):
            raise UserError(
                f"{path}:{lines.line_num}: {len(cells)} columns where the first line has {len(header)}; "
                "give each a value, and quote commas in a cell"
            )
        place = _Place(path, lines.line_num, dict(zip(header, cells, strict=True)))
        row = _edited(place) if wanted is EDITED else _micro(place)
        if row.experiment not in experiments:
            column = wanted[0]
            known = ", ".join(sorted(experiments))
            raise UserError(f"{place.of(column)}: there is no experiment {row.experiment!r}; choose one of {known}")
        yield row


@dataclass(frozen=True)
class _Place:
    """A line of the file."""

    path: Path
    line: int
    cells: Mapping[str, str]

    def of(self, column: str) -> str:
        return f"{self.path}:{self.line}: column {column}"

    def text(self, column: str) -> str:
        text = self.cells[column]
        if len(text) > LONGEST:
            raise UserError(f"{self.of(column)}: {len(text)} characters; give {LONGEST} at most")
        return text

    def count(self, column: str, least: int) -> int:
        text = self.cells[column]
        if not re.fullmatch("[0-9]{1,10}", text) or not least <= int(text) <= MOST:
            raise UserError(f"{self.of(column)}: {text!r} is no whole number from {least} to {MOST}; correct it")
        return int(text)

    def number(self, column: str) -> float:
        text = self.cells[column]
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not np.isfinite(value):
            raise UserError(f"{self.of(column)}: {text!r} is no number; give cycles such as 3885.0")
        return value

    def cycles(self) -> float:
        return self.number("cyc2_med") - self.number("cyc1_med")


def _micro(place: _Place) -> MeasuredRow:
    cells = {column: place.text(column) if column in ("exp", "op") else place.cells[column] for column in MICRO}
    if cells["exp"] != SCHEDULED:
        place.text("param")
    key = [cells[column] for column in ("exp", "op", "W", "ILP", "param")]
    return MeasuredRow(
        line=place.line,
        experiment=cells["exp"],
        op=cells["op"],
        param=cells["param"],
        warps=place.count("W", 1),
        ilp=place.count("ILP", 0),
        counts=(place.count("i1", 0), place.count("i2", 1)),
        cycles=_makespan(place) if cells["exp"] == SCHEDULED else place.cycles(),
        kind=_kind(cells["exp"], key),
    )


def _makespan(place: _Place) -> float:
    """The latest end among the texts `warp:start:end` of a row."""
    times = re.findall(r"\b\d+:(\d{1,15}):(\d{1,15})\b", place.cells["param"])
    return float(max((int(end) for _, end in times), default=0) - min((int(start) for start, _ in times), default=0))


def _edited(place: _Place) -> MeasuredRow:
    experiment, _, rest = place.text("name").partition(":")
    return MeasuredRow(
        line=place.line,
        experiment=experiment,
        op=place.text("kernel"),
        param=rest,
        warps=place.count("W", 1),
        ilp=0,
        counts=EDITED_COUNTS,
        cycles=place.cycles(),
        kind=_kind(experiment, [place.cells["name"], place.cells["W"]]),
    )


def _kind(experiment: str, key: Sequence[str]) -> str:
    if experiment in INPUTS:
        return "input"
    return "predicted" if sha256("|".join(key).encode()).digest()[-1] % 2 else "fitted"


def _stream(row: MeasuredRow) -> tuple[str, str, str, int]:
    return row.experiment, row.op, row.param, row.ilp


def _group(rows: Sequence[MeasuredRow], machine: Machine, make: Make) -> list[Outcome]:
    """Outcomes of rows that may share streams."""
    known: dict[Any, float] = {}
    return [_outcome(row, machine, make, known) for row in rows]


def _outcome(row: MeasuredRow, machine: Machine, make: Make, known: dict[Any, float]) -> Outcome:
    probe = make(row) if row.cycles > 0 else None
    if probe is None:
        return Outcome(row, None, NO_STREAM if row.cycles > 0 else NO_TIME)
    if machine.cache:
        machine = structs.replace(machine, cache=structs.replace(machine.cache, hits=probe.hits))
    try:
        if probe.first is None:
            return Outcome(row, _once(probe.second, machine, known, _together if probe.span else _median))
        times = [_once(kernel, machine, known, _cycles) for kernel in (probe.first, probe.second)]
    except UserError as error:
        return Outcome(row, None, str(error))
    return Outcome(row, (times[1] - times[0]) / probe.per)


def _once(kernel: Kernel, machine: Machine, known: dict[Any, float], time: Callable[[Kernel, Machine], float]) -> float:
    """The time of a kernel, simulated only if no equal kernel was; several blocks run on one SM."""
    key = kernel.program.instructions, kernel.grid, kernel.block
    if key not in known:
        blocks = 1 if kernel.blocks == 1 else kernel.blocks * machine.chip.sms
        known[key] = time(replace(kernel, grid=(blocks, 1, 1)), machine)
    return known[key]


def _cycles(kernel: Kernel, machine: Machine) -> float:
    return run_sm(kernel, machine, feed=TRACE_DRIVEN).cycles


def _median(kernel: Kernel, machine: Machine) -> float:
    """Cycles between a warp's two marks, of the median warp."""
    return float(np.median(np.ptp(_marks(kernel, machine), axis=1)))


def _together(kernel: Kernel, machine: Machine) -> float:
    """Cycles from the first mark of any warp to the last."""
    return float(np.ptp(_marks(kernel, machine)))


def _marks(kernel: Kernel, machine: Machine) -> NDArray[np.int64]:
    """Times [warp, mark] at which the marks were issued."""
    trace = run_sm(kernel, machine, feed=TRACE_DRIVEN, trace=True).trace
    marks = [pc for pc, made in enumerate(kernel.program.instructions) if made.row.mnemonic == MARK]
    issued = trace[(trace.kind == ISSUE) & np.isin(trace.pc, marks)]
    return np.array([issued.cycle[issued.warp == warp] for warp in np.unique(issued.warp)])
