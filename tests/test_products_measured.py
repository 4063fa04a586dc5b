"""IMAD.WIDE and IMAD.HI among other work: loops of tests/measured/products.cu as an H200 times them, and simulated.

That such products take the heavy half of the FMA pipe for 4 cycles was read off their control codes; the loops were
timed later, and no number was fitted to them.
"""

from __future__ import annotations

import csv
import lzma
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from draws import draws, spread

import gpusim

FILE = Path(gpusim.__file__).parent / "published" / "h200_products.csv"
CUBIN = Path(__file__).parent / "measured" / "products.cubin.xz"
FEW, MANY, WORKS = 16, 80, 8  # rounds of the two launches of a row, and pieces of work of a round
PLAIN = 6  # percent by which loops without 64-bit products may be off, of 16 and 32 warps, as reached, rounded up
LIMITS = {
    "conv": 24,
    "conv_2": 23,
    "wide_imad": 3,
    "wide_hi": 9,
    "wide_1": 30,
    "wide_4_1": 31,
}  # the same of those with
WIDE = 26  # and of further ones


class Row(NamedTuple):
    """A loop, and the warps of the one block that ran it."""

    loop: str
    warps: int


@cache
def measured() -> dict[Row, float]:
    """Return the cycles of a piece of work, for each warp of a scheduler."""
    with FILE.open(encoding="utf-8") as file:
        read = csv.DictReader(line for line in file if not line.startswith("#"))
        return {
            (row := Row(one["loop"], int(one["warps"]))): each(row, int(one["few"]), int(one["many"])) for one in read
        }


def each(row: Row, few: float, many: float, rounds: int = MANY - FEW) -> float:
    """Return the cycles of a piece of work, of two launches whose rounds differ by so many."""
    return (many - few) / rounds / WORKS / max(1, row.warps / 4)


@cache
def module(folder: Path) -> gpusim.RawModule:
    """Return the loops."""
    path = folder / "products.cubin"
    path.write_bytes(lzma.decompress(CUBIN.read_bytes()))
    return gpusim.RawModule(path=path)


def simulated(row: Row, folder: Path) -> float:
    """Return the same on `h200`, of shorter launches."""
    few, many = (_launched(row, rounds, folder) for rounds in (4, 20))
    return each(row, few, many, 16)


def _launched(row: Row, rounds: int, folder: Path) -> int:
    clocks = np.zeros((row.warps, 2), np.int64)
    numbers = (*map(np.int32, (rounds, 3, 5, 7)), np.float32(1.5), np.float32(0.5), np.int64(9))
    function = module(folder).get_function(f"k_{row.loop}")
    function((1,), (32 * row.warps,), (clocks, *numbers), machine="h200")
    return int(clocks[:, 1].max() - clocks[:, 0].min())


def limit(row: Row) -> int:
    """Return the percent by which a loop may be off."""
    return LIMITS.get(row.loop, WIDE if row.loop.startswith("wide") else PLAIN)


def test_a_wide_product_keeps_its_pipe_twice_as_long():
    """Of many warps IMAD takes 2 cycles of its pipe and IMAD.HI 4; IMAD.WIDE, with three that follow, more than 8."""
    for warps in (16, 32):
        assert measured()[Row("imad", warps)] / 4 == pytest.approx(2, rel=0.01)
        assert measured()[Row("hi", warps)] / 4 == pytest.approx(4.27, rel=0.01)
        assert measured()[Row("wide", warps)] / 4 == pytest.approx(8.17, rel=0.01)


@pytest.mark.long
@pytest.mark.jit
def test_loops_take_what_they_take_on_the_chip(tmp_path):
    """Of 16 and 32 warps those without 64-bit products are met within 6 %; others are 31 % too fast to 6 % too slow."""
    rows = [row for row in measured() if row.warps >= 16]
    for row in spread(rows, draws(len(rows), least=12)):
        off = 100 * (simulated(row, tmp_path) / measured()[row] - 1)
        assert -limit(row) <= off <= PLAIN, row
