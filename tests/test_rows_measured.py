"""Loads that hit the L1, whose lanes ask anywhere, as an H200 times them (h200_rows.csv), and here.

All of it is predicted: no number was fitted to these rows.
"""

import csv
import lzma
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from measured_limits import documented, module_of, stated, within
from measured_programs import module

import gpusim

HERE = Path(__file__).parent / "measured"
FILE = Path(gpusim.__file__).parent / "published" / "h200_rows.csv"
PROGRAM = module(HERE / "rows.py")
PLACES = {(name, words): places for name, words, places in PROGRAM.patterns()}
BYTES = 1 << 14  # of the array, more than any pattern reaches
# Percent: the median error and the 95th percentile, as reached in November 2026, rounded up.
LIMITS = {"rows": (0.9, 25)}


class Row(NamedTuple):
    """A loop, and the cycles that each of its loads takes."""

    pattern: str
    words: int
    step: int
    warps: int
    cycles: float


def each(cycles: int, warps: int) -> float:
    """Return the cycles of a load, of those of the rounds by which two launches differ."""
    few, many = PROGRAM.ROUNDS
    return cycles / (8 * warps * (many - few))


@cache
def rows(_: str = "rows") -> list[Row]:
    """Return all rows."""
    with FILE.open(encoding="utf-8") as file:
        found = list(csv.reader(line for line in file if not line.startswith("#")))[1:]
    numbers = [(name, *map(int, rest)) for name, *rest in found]
    return [Row(*row, each(many - few, row[-1])) for *row, few, many in numbers]


def simulated(code: gpusim.RawModule, row: Row) -> float:
    """Return the cycles that a load takes here."""
    function, taken = code.get_function(f"load{row.words}_{row.step}"), []
    at = np.array([4 * place for place in PLACES[row.pattern, row.words]] + [0], np.int32)
    for rounds in PROGRAM.ROUNDS:
        rec, array, sums = np.zeros(2 * row.warps, np.int64), np.zeros(BYTES, np.uint32), np.zeros(1024, np.uint32)
        arguments = rec, array, at, sums, np.int32(rounds)
        function((1,), (32 * row.warps,), arguments, machine="h200", complete=False)
        taken.append(int(rec[1::2].max() - rec[::2].min()))
    return each(taken[1] - taken[0], row.warps)


def test_all_patterns_are_timed():
    """The file has each pattern at both distances with both numbers of warps, once."""
    wanted = [
        (name, words, step, warps) for name, words in PLACES for step in PROGRAM.STEPS[words] for warps in PROGRAM.WARPS
    ]
    assert [tuple(row[:4]) for row in rows()] == wanted


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    """The cubin as a module."""
    return module_of(tmp_path_factory.mktemp("cubin"), lzma.decompress((HERE / "rows.cubin.xz").read_bytes()))


def error(code: gpusim.RawModule, row: Row) -> float:
    """Return the error of a row in percent."""
    return 100 * abs(simulated(code, row) / row.cycles - 1)


@pytest.mark.long
@pytest.mark.jit
def test_some_rows_are_met(code):
    """Of every 17th loop half are within 2 %."""
    assert np.median([error(code, row) for row in rows()[::17]]) <= 2


@pytest.mark.jit
@pytest.mark.slow
def test_rows_are_met(code):
    """Of all loops the median error and the 95th percentile are no larger than they were."""
    assert within([error(code, row) for row in rows()], *LIMITS["rows"])


def test_the_document_has_these_errors():
    """The table in docs/hopper.md says the loops, the median and the 95th percentile."""
    assert documented("Loads that hit, lanes anywhere") == stated(LIMITS, rows)
