"""The table of docs/gemm-bound.md has what the bound says, and its last column what the definition gives."""

import re
from math import ceil

import pytest
from read.fenced import ROOT

from gpusim.bounds.product.limits import shared_bytes
from gpusim.bounds.product.potential import potentials
from gpusim.machine.machine import load
from gpusim.machine.tensor_rates import products_per_cycle, tensor_gflops

PAGE = (ROOT / "docs" / "gemm-bound.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in re.findall(r"^\| \S+ \| (?:mma|wg).*$", PAGE, re.M)
]


@pytest.mark.parametrize("name", sorted({row[0] for row in ROWS}))
def test_the_table_has_the_bounds(name):
    """Each row is a bound of the machine in halves: tile, rate, share of the peak, limit."""
    machine, shown = load(name), [row[1:6] for row in ROWS if row[0] == name]
    found = [
        [
            one.by,
            f"{one.tiling.rows}x{one.tiling.columns}",
            f"{one.gflops(machine) / 1000:.1f}",
            f"{100 * one.gflops(machine) / tensor_gflops(machine, 'f16'):.1f} %",
            one.limiter,
        ]
        for one in potentials(machine, "f16")
    ]
    assert shown == found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def test_the_least_side_of_a_warps_tile(row):
    """2 h lines of 32 bytes over the bytes per cycle take no longer than 16 h h products: h = 4 products / bytes."""
    machine = load(row[0])
    rate = products_per_cycle(machine, "f16", group=row[1].startswith("wgmma"))
    assert int(row[6]) == ceil(4 * rate / shared_bytes(machine))


def test_the_table_has_each_generation():
    """Volta, Turing, Ampere and Hopper, of these also a GeForce."""
    assert {row[0] for row in ROWS} == {"v100", "rtx2080ti", "titan-rtx", "a100", "rtx3090", "rtx-a6000", "h200"}
