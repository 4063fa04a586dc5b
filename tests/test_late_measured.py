"""Chains of loads whose results are written late, as an H100 times them, and simulated.

The code is that of tests/measured/late.py. No number of the machine was fitted to these rows; docs/hopper.md says what
they tell.
"""

import csv
import lzma
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from draws import draws, spread
from measured_programs import module

import gpusim

HERE = Path(__file__).parent / "measured"
FILE = Path(gpusim.__file__).parent / "published" / "h100_late.csv"
STRIDE = {"LDS32": 4, "LDS64": 8, "LDS128": 16, "SHFL": 4, "MUFU": 4, "LDG64": 4}  # bytes between lanes
LINKS, ROUNDS = 64, (1, 3)
WARPS = 1, 2, 4  # of multiply-adds on each scheduler
PATTERNS = "Z", "E", "O", "EO", "E7O", "E15O", "E31O"
MEAN = 4.0  # percent, of seven patterns with a yield of 8, all warps, loads from shared memory and SHFL; 2.9 reached


def measured() -> dict[tuple[str, str, int, int], float]:
    """Return the cycles of a link, by the multiply-adds, the chain, the chains, and the warps of multiply-adds."""
    with FILE.open(encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {(r["others"], r["chain"], int(r["chains"]), int(r["warps"])): float(r["cycles"]) for r in rows}


@pytest.fixture(scope="module")
def late() -> ModuleType:
    """The program that writes the code, as a module."""
    return module(HERE / "late.py")


def simulated(path: Path, chain: str, warps: int) -> float:
    """Return the cycles of a link of one chain on `h200`."""
    function = gpusim.RawModule(path=path).get_function(f"late_{chain}")
    taken = []
    for rounds in ROUNDS:
        rec = np.zeros((4 + 4 * warps, 2), np.int64)
        numbers, sink, ring = np.ones(4096, np.float32), np.zeros(4096, np.float32), np.zeros(64, np.int64)
        counts = (np.int32(n) for n in (rounds, 60 // warps + 8, 1, STRIDE[chain]))
        size = (len(rec) * 32,)
        function((1,), size, (rec, numbers, sink, ring, *counts), machine="h200", shared_mem=8192, complete=False)
        taken.append(rec[0, 1] - rec[0, 0])
    return float(taken[1] - taken[0]) / LINKS / (ROUNDS[1] - ROUNDS[0])


def test_every_pattern_was_measured(late):
    """The file has each pattern and yield of the program, with each chain and count of warps, and no other."""
    others = {f"{name}.{period}" for name in late.PATTERNS for period in late.YIELDS}
    assert set(measured()) == {(o, c, n, w) for o in others for c in STRIDE for n in (1, 4) for w in (0, *WARPS)}


@pytest.mark.parametrize("chain", ["LDS32", "LDS64", "LDS128", "SHFL", "LDG64"])
def test_a_reader_waits_where_the_bank_is_never_free(chain):
    """Two warps of multiply-adds that write a link's bank cost it 13 to 23 cycles more than those that write none."""
    found, bank = measured(), "O" if chain == "SHFL" else "E"  # of the register that its chain has
    for period in (4, 8, 16):
        assert 13 <= found[f"{bank}.{period}", chain, 1, 2] - found[f"Z.{period}", chain, 1, 2] <= 23


@pytest.mark.long
@pytest.mark.jit
def test_chains_take_what_they_take_on_the_chip(late, tmp_path):
    """Chains of shared loads and SHFL are as far from the chip as the rule was when nothing had been fitted to them."""
    code, found, errors = lzma.decompress((HERE / "late.cubin.xz").read_bytes()), measured(), []
    for pattern in spread(list(PATTERNS), draws(len(PATTERNS), least=4)):
        path = tmp_path / f"{pattern}.cubin"
        path.write_bytes(late.edited(code, late.PATTERNS[pattern], 8))
        for chain in ("LDS32", "LDS64", "LDS128", "SHFL"):
            for warps in WARPS:
                errors.append(100 * abs(simulated(path, chain, warps) / found[f"{pattern}.8", chain, 1, warps] - 1))
    assert np.mean(errors) <= MEAN, errors
