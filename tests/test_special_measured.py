"""Loops of constants, special registers and their neighbours, as an H200 times them (h200_special.csv), and simulated.

The loops are those of tests/measured/special.py. `[constant_path]` and `memory_port.special` were read off them.
"""

import csv
import lzma
from pathlib import Path

import numpy as np
import pytest
from draws import draws, spread
from measured_programs import module

import gpusim

HERE = Path(__file__).parent / "measured"
FILE = Path(gpusim.__file__).parent / "published" / "h200_special.csv"
ITERATIONS = 4, 12
PLACES = 240
MEDIAN, WORST = 0.5, 34  # percent, as reached in November 2026


def measured() -> dict[tuple[str, int], float]:
    """Return the cycles of the SM for each instruction, by loop and warps."""
    with FILE.open(encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {(row["loop"], int(row["warps"])): float(row["cycles"]) for row in rows}


@pytest.fixture(scope="module")
def special():
    """The program that writes the loops, as a module."""
    return module(HERE / "special.py")


def simulated(path: Path, warps: int) -> float:
    """Return the same on `h200`."""
    function = gpusim.RawModule(path=path).get_function("edited")
    taken = []
    for iterations in ITERATIONS:
        rec = np.zeros((warps, 2), np.int64)
        numbers, sink = np.ones(4096, np.float32), np.zeros(1024, np.float32)
        arguments = rec, numbers, sink, np.int32(iterations), np.int32(4)
        function((1,), (warps * 32,), arguments, machine="h200", shared_mem=8192, complete=False)
        taken.append(rec[:, 1].max() - rec[:, 0].min())
    return float(taken[1] - taken[0]) / (ITERATIONS[1] - ITERATIONS[0]) / PLACES / warps


def test_which_take_the_same_unit():
    """Two take a unit for 2 cycles each: alone, and beside another of the same; of two units neither notices."""
    found = {loop: cycles for (loop, warps), cycles in measured().items() if warps == 8}
    for one in ("LDC", "LDC64", "CTAIDX", "SMID", "S2UR", "TIDX", "LANE", "MUFU"):
        assert found[f"{one} 1"] == pytest.approx(2, rel=0.01)
    same = ["LDC 1 LDC64 1", "LDC 1 CTAIDX 1", "LDC 1 S2UR 1", "CTAIDX 1 S2UR 1"]
    assert [found[loop] for loop in same] == pytest.approx([2] * 4, rel=0.01)
    apart = ["LDC 1 TIDX 1", "LDC 1 LDS32 1", "LDC 1 SHFL 1", "LDC 1 MUFU 1", "TIDX 1 CTAIDX 1", "S2UR 1 LDS32 1"]
    assert [found[loop] for loop in apart] == pytest.approx([1] * 6, rel=0.02)
    assert found["TIDX 1 LDS32 1"] == pytest.approx((2 + 1) / 2, rel=0.01)


@pytest.mark.long
@pytest.mark.jit
def test_loops_take_what_they_take_on_the_chip(special, tmp_path):
    """Each loop drawn, with one warp and with eight, is met as nearly as it was; half of all nearly exactly."""
    found, base = measured(), lzma.decompress((HERE / "returns.cubin.xz").read_bytes())
    errors = []
    loops = list(special.loops())
    for number, (name, period) in enumerate(spread(loops, draws(len(loops), least=12))):
        path = tmp_path / f"{number}.cubin"
        path.write_bytes(special.placed(base, period))
        errors += [100 * abs(simulated(path, warps) / found[name, warps] - 1) for warps in (1, 8)]
    assert np.median(errors) <= MEDIAN
    assert max(errors) <= WORST
