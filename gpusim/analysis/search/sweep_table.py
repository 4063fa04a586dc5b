"""Rows of a sweep as a flat table: its columns, the points that no other beats, CSV and Parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from math import isfinite
from pathlib import Path

import msgspec

from gpusim.analysis.account.figures import Figures
from gpusim.analysis.search.sweep import Axis, SweepPoint, SweepRow
from gpusim.support import whole_file
from isa.errors import UserError
from isa.reading import extra
from isa.reading.nearest import nearest

Cell = int | float | str
Cells = Mapping[str, Cell]
GROUPS = ("lost", "stalls", "limits")  # figures by reason or by limit
PLAIN = tuple(name for name in Figures.__struct_fields__ if name not in GROUPS)
PREFIX = {"machine": "set.", "kernel": "p."}
NUMBERS = tuple(name for name in PLAIN if Figures.__annotations__[name] != "str")
REASON = "reason"  # why a point has no figures
MEMORY = ("dram_gbs", "percent_of_dram", "l2_gbs", "percent_of_l2")
RATES = ("gflops", "percent_of_peak", *MEMORY, "instructions_per_cycle", "blocks", "warps")  # more is better


def cells(row: SweepRow) -> dict[str, Cell]:
    """Return a row as cells by column, without the figures that it has none of.

    The column of a setting is `set.PATH`, of a parameter `p.NAME`, of a figure its name, and of a figure by reason or
    limit `lost.REASON`, `stalls.REASON` or `limits.NAME`.
    """
    known = msgspec.to_builtins(row.figures) if row.figures else {}
    plain = {name: known[name] for name in PLAIN if known.get(name) is not None}
    parts = {f"{group}.{name}": cell for group in GROUPS if known for name, cell in known[group].items()}
    return _chosen(row.point) | plain | parts | ({REASON: row.reason} if row.reason else {})


def with_nulls(row: SweepRow) -> dict[str, Cell | None]:
    """Return the same cells with null for a figure that the row has none of, such as the GFLOP/s of a copy."""
    found = cells(row)
    known = [name for name in PLAIN if row.figures and getattr(row.figures, name) is not msgspec.UNSET]
    return {name: found.get(name) for name in dict.fromkeys([*_chosen(row.point), *known, *found])}


def column_of(axis: Axis) -> str:
    """Return the column of an axis' values."""
    return f"{PREFIX[axis.of]}{axis.name}"


def _chosen(point: SweepPoint) -> dict[str, Cell]:
    """A point's values by column, with numbers as numbers."""
    chosen = {PREFIX["machine"] + name: text for name, text in point.settings.items()}
    chosen |= {PREFIX["kernel"] + name: text for name, text in point.parameters.items()}
    return {name: cell(text) for name, text in chosen.items()}


def cell(text: str) -> Cell:
    """Return a value of an axis as a cell: a whole number, else a finite number, else the text."""
    if text.isascii() and "_" not in text:  # Python would accept both in numbers
        for number in (int, float):
            with suppress(ValueError, OverflowError):
                if isfinite(value := number(text)):
                    return value
    return text


def columns(table: Iterable[Cells]) -> list[str]:
    """Return all columns of a table: axes, figures, those by reason or limit in alphabetical order, reason."""
    used = dict.fromkeys(name for row in table for name in row)
    grouped = sorted(name for name in used if name.startswith(tuple(f"{group}." for group in GROUPS)))
    rest = [name for name in used if name.startswith(tuple(PREFIX.values()))]
    return [*rest, *(name for name in (*PLAIN, *grouped, REASON) if name in used)]


def compared(text: str, axes: Sequence[Axis], option: str) -> list[str]:
    """Return the columns of numbers that a comma-separated text names: figures, or axes without their prefix.

    An empty text gives none. Raises UserError, which begins with the option, for a single column, a repeated one, and
    a name that is no such column.
    """
    known = [*NUMBERS, *(column_of(axis) for axis in axes if not any(isinstance(cell(v), str) for v in axis.values))]
    names = [_column(name, known, option) for name in text.split(",")] if text else []
    if len(names) == 1:
        raise UserError(f"{option} {text}: one column; give two or more, such as gflops,registers")
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"{option} {text}: {name} twice; give each column once")
    return names


def _column(name: str, known: Sequence[str], option: str) -> str:
    for candidate in (name, *(prefix + name for prefix in PREFIX.values())):
        if candidate in known:
            return candidate
    near = nearest(name, known)
    hint = f"did you mean {near}?" if near else f"choose from {', '.join(known)}"
    raise UserError(f"{option} {name}: no column of numbers; {hint}")


def front(table: Sequence[Cells], names: Sequence[str]) -> list[Cells]:
    """Return the Pareto front: the rows that no other equals or beats in every one of these columns and beats in one.

    For rates and for resident blocks and warps more is better, for everything else less.
    """
    full = [row for row in table if all(name in row for name in names)]
    costs = {id(row): tuple(_cost(name, row[name]) for name in names) for row in full}
    best: list[tuple[float, ...]] = []
    for one in sorted(set(costs.values())):  # any row that beats it comes before it
        if not any(_beats(other, one) for other in best):
            best.append(one)
    return sorted((row for row in full if costs[id(row)] in best), key=lambda row: costs[id(row)])


def _cost(name: str, cell: Cell) -> float:
    return -float(cell) if name in RATES else float(cell)


def _beats(other: Sequence[float], one: Sequence[float]) -> bool:
    return other != one and all(mine <= yours for mine, yours in zip(other, one, strict=True))


def write_csv(path: Path, table: Sequence[Cells]) -> None:
    """Write a table with a line of names; a missing cell is empty. Raises UserError if it can't be written."""
    with whole_file.unfinished(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns(table), restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: whole_file.shown(cell) for name, cell in row.items()} for row in table)


def write_parquet(path: Path, table: Sequence[Cells]) -> None:
    """Write the same table to a Parquet file, in which missing cells are null.

    Raises UserError if it can't be written, or pyarrow is missing.
    """
    arrow, parquet = extra.module("pyarrow", "parquet"), extra.module("pyarrow.parquet", "parquet")
    content = {name: _alike([row.get(name) for row in table]) for name in columns(table)}
    with whole_file.unfinished(path) as part:
        parquet.write_table(arrow.table(content), part)


def _alike(column: Sequence[Cell | None]) -> Sequence[Cell | None]:
    """A column of one type: numbers, or words if any cell is a word."""
    worded = any(isinstance(cell, str) for cell in column)
    return [cell if cell is None or not worded else str(cell) for cell in column]
