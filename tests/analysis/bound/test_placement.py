"""Blocks that differ only in the addresses of their accesses: their placements, and the profile moved to these."""

from collections import Counter

import pytest
from draws import draws
from fuzz.draw import SCALARS
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies.launches import REPEATABLE, looping_kernels
from timing import plain_machine

from gpusim.analysis.bound.access_cost import costs
from gpusim.analysis.bound.bounds import bound
from gpusim.analysis.bound.placement import moved, placements
from gpusim.jit.rule import COMPILED
from gpusim.launch.ground import ground
from gpusim.machine.machine import load
from isa.execute.block_step import block_steps
from isa.execute.profile import profile
from isa.text.listing import read

LINE = 128
ROWS = ".buffer a f32 4096\nS2R R0, TID.X\nS2R R1, CTAID.X\nIMAD R0, R1, {}, R0\nSHL R0, R0, {}\nIADD R0, R0, c[a]\n"
GTX580 = load("gtx580", {"chip.sms": 1, "chip.dram_mbs": 2000})


def test_blocks_count_by_their_place_in_a_line():
    """With rows of 48 words, 2 of 5 blocks begin in the middle of a line of 128 bytes, none in one of 64."""
    kernel = read(".grid 5\n" + ROWS.format(48, 2) + "LDG R2, [R0]\nEXIT")
    steps = block_steps(kernel)
    (pc,) = [pc for pc, i in enumerate(kernel.program.instructions) if i.row.mnemonic == "LDG"]
    assert steps == {pc: (192, 0, 0)}
    assert sorted(placements(kernel, steps, LINE, range(5)), key=str) == [({pc: 0}, 3), ({pc: 64}, 2)]
    assert placements(kernel, steps, 64, range(5)) == [({}, 1)]


@pytest.mark.parametrize(("grid", "transactions"), [("1", 1), ("2", 1 + 2), ("5", 3 * 1 + 2 * 2)])
def test_bandwidth_counts_the_transactions_of_each_place(grid, transactions):
    """On a GTX 580 128 bytes of a warp are one transaction if they begin at a line, two if in the middle of one."""
    loads = ROWS.format(48, 2) + "LDG R2, [R0]\n" * 100
    one, found = (bound(read(f".grid {count}\n{loads}EXIT"), GTX580) for count in (1, grid))
    assert found.limits["memory bandwidth"] == pytest.approx(transactions * one.limits["memory bandwidth"], rel=1e-3)
    assert found.alike


@settings(REPEATABLE, max_examples=draws(60 if COMPILED else 5))
@given(looping_kernels((3, 30)), st.sampled_from(["fermi", "gt200", "sectors"]), st.integers(0, 8))
def test_a_moved_profile_costs_what_the_blocks_own_does(kernel, rule, block):
    """The accesses of any block cost what those of block 0 cost when they are moved, on every rule of transactions."""
    changes = {"global_memory.rule": rule, "limits.warp_size": kernel.warp_size}
    steps, machine = block_steps(kernel), plain_machine(SCALARS | changes)
    assume(steps is not None and block < kernel.blocks)
    base = ground(kernel, machine)
    ((places, count),) = placements(kernel, steps, machine.global_memory.line_bytes, range(block, block + 1))
    assert count == 1
    own, other = (
        costs(base.numbers, base.rows, found, {}) for found in (profile(kernel, block), moved(profile(kernel), places))
    )
    assert own == other


@settings(REPEATABLE, max_examples=draws(40))
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 5), st.integers(1, 4), st.integers(1, 99))
def test_every_block_is_counted_once(x, y, z, stride, words):
    """The counts of a grid's places are those of its blocks one by one."""
    text = f".grid {x} {y} {z}\n.buffer a f32 4096\nS2R R1, CTAID.X\nS2R R2, CTAID.Y\nS2R R3, CTAID.Z\n"
    kernel = read(f"{text}IMAD R1, R1, {4 * words}, R2\nIMAD R1, R3, 36, R1\nIADD R1, R1, c[a]\nLDG R2, [R1]\nEXIT")
    blocks = [(i % x, i // x % y, i // x // y) for i in range(0, x * y * z, stride)]
    expected = Counter((4 * words * a + b + 36 * c) % LINE for a, b, c in blocks)
    steps = block_steps(kernel)
    assert steps is not None
    found = placements(kernel, steps, LINE, range(0, x * y * z, stride))
    assert Counter({place: count for places, count in found for place in places.values()}) == expected
