"""A timeline as tables, in CSV or Parquet: a row for each instruction, wait, stretch of lost slots, copy or phase.

The table `memory` is of the whole launch: what each instruction moved, then what was moved of each buffer.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from csv import writer
from dataclasses import fields
from itertools import islice

import msgspec

from gpusim.views.timeline.document import NONE, VERSION, Copy, Issued, Lost, Phase, Timeline, Wait
from gpusim.views.timeline.memory_tables import Accesses
from isa.reading import extra

Cell = int | float | str | None
Table = dict[str, list[Cell]]  # columns by name
BATCH = 4096  # rows written at once
TEXTS = frozenset(("reason", "text", "unit", "region", "file", "level", "name", "operation"))
MEMORY = tuple(one.name for one in fields(Accesses))
REALS = frozenset(MEMORY) - {"name", "operation", "pc", "offset"}


def instructions(timeline: Timeline) -> Table:
    """Return the instructions in order of issue, each with its line of the program; missing times are None."""
    program = {line.pc: line for line in timeline.program}
    table = _columns(Issued, timeline.instructions, without="waits")
    for field in ("text", "unit", "region", "file"):
        table[field] = [getattr(program[i.pc], field) for i in timeline.instructions]
    table["line"] = [program[i.pc].line or None for i in timeline.instructions]
    return table


def waits(timeline: Timeline) -> Table:
    """Return the waits of all instructions, each with the id of the one that waited."""
    pairs = [(i.id, wait) for i in timeline.instructions for wait in i.waits]
    return {"instruction": [waiting for waiting, _ in pairs], **_columns(Wait, [wait for _, wait in pairs])}


def lost(timeline: Timeline) -> Table:
    """Return the stretches in which a scheduler's issue slots stayed empty."""
    return _columns(Lost, timeline.lost)


def copies(timeline: Timeline) -> Table:
    """Return the copies of the copy engine."""
    return _columns(Copy, timeline.copies)


def phases(timeline: Timeline) -> Table:
    """Return the phases of barriers in shared memory, each with the number of warps that waited for its end."""
    table = _columns(Phase, timeline.phases, without="waiting")
    return table | {"waiting": [len({one.warp for one in phase.waiting}) for phase in timeline.phases]}


def memory(timeline: Timeline) -> Table:
    """Return what instructions moved, and what was moved of buffers; no row in a timeline that does not say."""
    found = timeline.summary.memory if timeline.summary else None
    rows = (*found.instructions, *found.buffers) if found else ()
    return {name: [None if (cell := getattr(row, name)) == NONE else cell for row in rows] for name in MEMORY}


TABLES = {
    "instructions": instructions,
    "waits": waits,
    "lost": lost,
    "copies": copies,
    "phases": phases,
    "memory": memory,
}


def csv(timeline: Timeline, table: str = "instructions") -> Iterator[bytes]:
    """Yield a table of TABLES as CSV, in pieces: a line of names, then the rows; an empty number is None."""
    columns = TABLES[table](timeline)
    yield _lines([tuple(columns)])
    rows = zip(*columns.values(), strict=True)
    while batch := list(islice(rows, BATCH)):
        yield _lines(batch)


def _lines(rows: Iterable[Sequence[Cell]]) -> bytes:
    text = io.StringIO()
    writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def parquet(timeline: Timeline, table: str = "instructions") -> Iterator[bytes]:
    """Yield a table of TABLES as a Parquet file; raises UserError without the extra `parquet`.

    The file's metadata has the document's head as JSON, by the key `gpusim`: kernel, machine and cycles.
    """
    arrow, file = extra.module("pyarrow", "parquet"), extra.module("pyarrow.parquet", "parquet")
    columns = TABLES[table](timeline)
    reals = REALS if table == "memory" else frozenset()
    types = {
        name: arrow.string() if name in TEXTS else arrow.float64() if name in reals else arrow.int64()
        for name in columns
    }
    made = arrow.table(columns, arrow.schema(types.items(), {"gpusim": msgspec.json.encode(_head(timeline))}))
    buffer = io.BytesIO()
    file.write_table(made, buffer)
    yield buffer.getvalue()


def _columns(kind: type[msgspec.Struct], rows: Sequence[msgspec.Struct], without: str = "") -> Table:
    """The fields of structs as columns; no instruction and no such cycle are None."""
    names = [name for name in kind.__struct_fields__ if name != without]
    return {name: [None if (cell := getattr(row, name)) == NONE else cell for row in rows] for name in names}


def _head(timeline: Timeline) -> dict[str, object]:
    """The document without the content of its tables."""
    rows = {"letters", "program", "blocks", "sources", "instructions", "lost", "copies", "phases"}
    fields = msgspec.structs.asdict(timeline).items()
    head = {name: value for name, value in fields if name not in rows and value is not msgspec.UNSET}
    return {"version": VERSION} | head
