"""Every number of every row of a measured file, however large."""

import csv
import re
from pathlib import Path

import pytest
from draws import few

from gpusim.analysis.validate.measured import read
from isa.errors import UserError
from workloads.check import MOST_INSTRUCTIONS
from workloads.measured.probes import EXPERIMENTS, probe

FILES = sorted((Path(__file__).parents[2] / "measured").glob("*.csv"))
EXTREME = ("9999", "2147483647", "9" * 23, "9" * 5_000)
WORKED = ("W", "ILP", "i1", "i2", "param", "op", "name", "kernel", "exp")


def every():
    """Yield each row of the files with one of its numbers replaced by each extreme one, and its header."""
    for file in FILES:
        header, *rows = csv.reader(file.read_text().splitlines())
        for row in rows:
            for column, cell in zip(header, row, strict=True):
                for found in re.finditer(r"\d+", cell if column in WORKED else ""):
                    changed = [
                        (cell, found.span()) if name == column else each for name, each in zip(header, row, strict=True)
                    ]
                    for number in EXTREME:
                        where = f"{file.stem} {row[0]} {row[1]} {column} {number[:10]}"
                        yield pytest.param(header, changed, number, id=where)


@pytest.mark.parametrize(("header", "cells", "number"), few(every(), 100))
def test_any_number_has_a_stream_that_fits_or_none(header, cells, number, tmp_path):
    """The row is refused in one line, has no stream, or has one that fits a program and memory."""
    row = [one if isinstance(one, str) else one[0][: one[1][0]] + number + one[0][one[1][1] :] for one in cells]
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, row])
    try:
        (found,) = read(tmp_path / "rows.csv", EXPERIMENTS)
        made = probe(found.experiment, found.op, found.param, found.warps, found.ilp, found.counts)
    except UserError as error:
        reported = str(error)
    else:
        reported = ""
        for kernel in filter(None, (made and made.first, made and made.second)):
            assert len(kernel.program.instructions) <= 3 * MOST_INSTRUCTIONS
            assert sum(buffer.nbytes for buffer in kernel.buffers) < 1 << 28
            assert all(i.control is None or i.control.stall <= 15 for i in kernel.program.instructions)
    assert len(reported.splitlines()) <= 1
