import csv as reader
import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from msgspec import structs
from strategies.launches import timelines
from strategies.timeline_documents import by_hand

from gpusim.views.table import TABLES, TEXTS, csv, instructions, parquet
from gpusim.views.timeline.document import NONE, Copy, Issued, Line, Lost, Phase, Wait

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "views.md"
ODD = [Line(0, 'MOV R1, c[a, "b"],\n\tR2', "move", "lösung, ü")]


def number(cell):
    return NONE if cell in {"", None} else int(cell)


def from_csv(document, table):
    """Return the rows of a table as read from its CSV: by column, as text."""
    text = b"".join(csv(document, table)).decode()
    return list(reader.DictReader(io.StringIO(text, newline=""), strict=True))


def from_parquet(document, table):
    """Return the rows of a table as read from its Parquet file."""
    return file_of(document, table).read().to_pylist()


def file_of(document, table):
    return pytest.importorskip("pyarrow.parquet").ParquetFile(io.BytesIO(b"".join(parquet(document, table))))


def issued(rows, waits):
    """Return the instructions that the rows of two tables describe."""
    waited = {}
    for row in waits:
        wait = Wait(row["reason"], number(row["start"]), number(row["end"]), number(row["blocker"]))
        waited.setdefault(int(row["instruction"]), []).append(wait)
    numbers = [name for name in Issued.__struct_fields__ if name not in {"waits", "level"}]
    return tuple(
        Issued(
            **{name: number(row[name]) for name in numbers},
            waits=tuple(waited.get(int(row["id"]), ())),
            level=row["level"],
        )
        for row in rows
    )


def lost(rows):
    return tuple(
        Lost(int(r["scheduler"]), r["reason"], int(r["start"]), int(r["end"]), number(r["ended_by"])) for r in rows
    )


def copied(rows):
    return tuple(Copy(**{name: number(cell) for name, cell in row.items()}) for row in rows)


def ended(rows):
    """Return the phases of a table, and how many warps waited for each."""
    numbers = [{name: number(cell) for name, cell in row.items()} for row in rows]
    return [(Phase(**{**row, "waiting": ()}), row["waiting"]) for row in numbers]


@given(timelines())
def test_csv_has_copies_and_phases(document):
    """Copies and phases of barriers read back are those of the document, with the number of warps that waited."""
    assert copied(from_csv(document, "copies")) == document.copies
    waited = [len({one.warp for one in phase.waiting}) for phase in document.phases]
    alone = [structs.replace(phase, waiting=()) for phase in document.phases]
    assert ended(from_csv(document, "phases")) == list(zip(alone, waited, strict=True))


@given(timelines())
def test_csv_has_the_document(document):
    """Instructions with their waits, and lost slots, read back from three tables are those of the document."""
    assert issued(from_csv(document, "instructions"), from_csv(document, "waits")) == document.instructions
    assert lost(from_csv(document, "lost")) == document.lost


@pytest.mark.slow
@given(timelines())
def test_parquet_has_the_document(document):
    """Instructions with their waits, and lost slots, read back from three tables are those of the document."""
    assert issued(from_parquet(document, "instructions"), from_parquet(document, "waits")) == document.instructions
    assert lost(from_parquet(document, "lost")) == document.lost


@given(timelines())
def test_each_instruction_has_its_line_of_the_program(document):
    """Text, unit class, region, and file and line of the source are those of its pc; without a line it is empty."""
    rows = from_csv(document, "instructions")
    lines = [tuple(row[name] for name in ("pc", "text", "unit", "region", "file", "line")) for row in rows]
    own = [document.program[i.pc] for i in document.instructions]
    assert lines == [(str(i.pc), i.text, i.unit, i.region, i.file, str(i.line or "")) for i in own]


def test_any_text_fits_a_cell():
    """Commas, quotes, tabs, line breaks and letters beyond ASCII are read back unchanged."""
    document = by_hand(ODD, [Issued(0, 0, 0, 0, 0, 1, NONE, NONE, NONE, 32)], 5)
    (row,) = from_csv(document, "instructions")
    assert (row["text"], row["region"]) == (ODD[0].text, ODD[0].region)


@pytest.mark.parametrize("table", TABLES)
def test_an_empty_table_has_its_columns(table):
    """A table without rows has its line of column names."""
    names, *rows = b"".join(csv(by_hand([], [], 1), table)).decode().splitlines()
    assert names.split(",") == list(TABLES[table](by_hand([], [], 1)))
    assert rows == []


def test_a_time_that_an_instruction_lacks_is_none():
    """Times that an instruction lacks are None in a table, so that no program computes with them."""
    document = by_hand(ODD, [Issued(0, 0, 0, 0, 0, 1, NONE, NONE, NONE, 32)], 5)
    table = instructions(document)
    assert (table["begin"], table["end"], table["done"], table["issue"]) == ([None], [None], [None], [1])


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
def test_parquet_has_types_and_the_head(table):
    """Numbers are 64-bit integers and texts strings even without rows; the metadata names the run."""
    file = file_of(by_hand([], [], 7), table)
    kinds = {str(field.type) for field in file.schema_arrow if field.name not in TEXTS}
    assert kinds <= {"int64", "double"}
    assert {str(field.type) for field in file.schema_arrow} <= {"int64", "double", "string"}
    head = json.loads(file.metadata.metadata[b"gpusim"])
    assert (head["kernel"], head["cycles"], head["version"]) == ("k", 7, 1)


@pytest.mark.parametrize("table", TABLES)
def test_columns_are_as_documented(table):
    """docs/views.md names every column of each table, in the order in which they are written."""
    (named,) = re.findall(rf"`(?:--table )?{table}` \(`([\w,]+)`\)", DOCUMENT.read_text())
    assert b"".join(csv(by_hand(ODD, [], 9), table)).decode() == f"{named}\n"
