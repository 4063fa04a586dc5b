"""Blocks that differ only in where their accesses begin: the placements, and the costs there."""

from collections import Counter

import pytest
from draws import draws
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies.launches import REPEATABLE
from timing import plain_machine

from gpusim.bounds import placement
from gpusim.bounds.chain.access_cost import costs
from gpusim.bounds.placement import moved, placements
from gpusim.engines.walks.profile import profile
from gpusim.launch.ground import ground
from isa.dataflow.block_step import block_steps
from isa.text.listing import read

LINE = 128
ROWS = ".buffer a f32 4096\nS2R R0, TID.X\nS2R R1, CTAID.X\nIMAD R0, R1, 48, R0\nSHL R0, R0, 2\nIADD R0, R0, c[a]\n"
RULES = st.sampled_from(("fermi", "gt200", "sectors"))
GUARDS = st.sampled_from(("", "@P0 ", "@!P0 ", "@P1 "))  # lanes 0 to 4, the others, none


def test_blocks_count_by_their_place_in_a_line():
    """Rows of 48 words: every second of 5 blocks begins in the middle of a line of 128 bytes, none in one of 64."""
    kernel = read(f".grid 5\n{ROWS}LDG R2, [R0]\nEXIT")
    steps = block_steps(kernel)
    (pc,) = [pc for pc, i in enumerate(kernel.program.instructions) if i.row.mnemonic == "LDG"]
    assert steps == {pc: (192, 0, 0)}
    assert sorted(placements(kernel, steps, LINE, range(5)), key=str) == [({pc: 0}, 3), ({pc: 64}, 2)]
    assert placements(kernel, steps, 64, range(5)) == [({}, 5)]


def test_blocks_beyond_count_are_not_guessed_at(monkeypatch):
    """There are no placements of more blocks than are counted, unless all are alike."""
    kernel = read(f".grid 5\n{ROWS}LDG R2, [R0]\nEXIT")
    monkeypatch.setattr(placement, "MOST", 4)
    assert placements(kernel, block_steps(kernel), LINE, range(5)) is None
    assert placements(kernel, block_steps(kernel), LINE, range(4)) is not None
    assert placements(kernel, block_steps(kernel), 64, range(5)) == [({}, 5)]


@pytest.mark.long
@pytest.mark.parametrize("grid", ["7", "1 7", "1 1 7"])
@settings(REPEATABLE, max_examples=draws(60))
@given(RULES, st.integers(-40, 200), st.integers(0, 70), st.sampled_from(["", ".64", ".128"]), GUARDS)
def test_moved_accesses_cost_what_each_blocks_own_do(grid, rule, words, stride, width, guard):
    """An access of any block costs what block 0's costs when it is moved, on every rule of transactions."""
    size = {"": 4, ".64": 8, ".128": 16}[width]
    axis = "XYZ"[len(grid.split()) - 1]
    text = f".grid {grid}\n.block 50\n.buffer a f32 65536\nS2R R0, TID.X\nS2R R1, CTAID.{axis}\nISETP.LT P0, R0, 5\n"
    text += (
        f"MOV R2, {size * stride}\nIMAD R2, R0, R2, c[a]\nIADD R2, R2, 65536\nMOV R3, {size * words & 0xFFFFFFFF:#x}\n"
    )
    kernel = read(f"{text}IMAD R2, R1, R3, R2\n{guard}LDG{width} R4, [R2]\nEXIT")
    machine, steps = plain_machine({"global_memory.rule": rule}), block_steps(kernel)
    assume(steps is not None)
    base, first, whole = ground(kernel, machine), profile(kernel), range(kernel.blocks)
    assert sum(count for _, count in placements(kernel, steps, LINE, whole)) == kernel.blocks
    for block in whole:
        own = costs(base.numbers, base.rows, profile(kernel, block), {})
        ((places, _),) = placements(kernel, steps, LINE, range(block, block + 1))
        assert all(costs(base.numbers, base.rows, moved(first, pc, places.get(pc, 0)), {})[pc] == own[pc] for pc in own)


@settings(REPEATABLE, max_examples=draws(40))
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 5), st.integers(1, 4), st.integers(1, 99))
def test_every_block_is_counted_once(x, y, z, stride, words):
    """The counts of a grid's placements are those of its blocks one by one."""
    text = f".grid {x} {y} {z}\n.buffer a f32 4096\nS2R R1, CTAID.X\nS2R R2, CTAID.Y\nS2R R3, CTAID.Z\n"
    kernel = read(f"{text}IMAD R1, R1, {4 * words}, R2\nIMAD R1, R3, 36, R1\nIADD R1, R1, c[a]\nLDG R2, [R1]\nEXIT")
    blocks = [(i % x, i // x % y, i // x // y) for i in range(0, x * y * z, stride)]
    expected = Counter((4 * words * a + b + 36 * c) % LINE for a, b, c in blocks)
    steps = block_steps(kernel)
    assert steps is not None
    found = placements(kernel, steps, LINE, range(0, x * y * z, stride))
    assert Counter({place: count for places, count in found for place in places.values()}) == expected
