"""Loads and stores move the right words, and their cost follows their addresses and active lanes."""

import numpy as np
import pytest
from interpreter.interpret import interpret
from timing import cycles_of, run_text

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from isa.text.listing import read

WALK = """
.shared 8192
    S2R R0, LANEID
    SHL R0, R0, 2
    MOV R1, 0
again:
    LDS R2, [R0]
    IADD R0, R0, R0
    IADD R1, R1, 1
    ISETP.LT P0, R1, 4
    @P0 BRA again
    EXIT
"""


def test_the_cost_is_worked_out_again_when_the_address_moves():
    """One load, four rounds, strides of 1, 2, 4 and 8 words: 1 + 2 + 4 + 8 passes of 2 cycles."""
    assert run_text(WALK, {"shared_memory.pass_cycles": 2}).load_store_cycles[3] == 2 * (1 + 2 + 4 + 8)


def test_the_cost_is_worked_out_again_when_other_lanes_are_active():
    """A load at the same addresses takes 32 passes with 32 active lanes, then 2 with 2."""
    text = """
.shared 4096
    S2R R0, LANEID
    SHL R1, R0, 7
    ISETP.GE P0, R0, 0
    MOV R2, 0
again:
    @P0 LDS R3, [R1]
    ISETP.LT P0, R0, 2
    IADD R2, R2, 1
    ISETP.LT P1, R2, 2
    @P1 BRA again
    EXIT
"""
    assert run_text(text, {"shared_memory.pass_cycles": 1}).load_store_cycles[4] == 34


@pytest.mark.parametrize("memory", ["S", "L"])
@pytest.mark.parametrize(("suffix", "words"), [("", 1), (".64", 2), (".128", 4)])
def test_a_load_returns_what_was_stored(memory, suffix, words):
    """Loads of each width, from shared and local memory, return every word that each lane stored."""
    place = "R0" if memory == "S" else "RZ"
    fill = "\n".join(f"    IADD R{4 + w}, R0, {w}" for w in range(words))
    text = f"""
.shared 512
.local 16
.buffer y u32 128
    S2R R0, LANEID
    SHL R0, R0, 4
    IADD R1, R0, c[y]
{fill}
    ST{memory}{suffix} [{place}], R4
    LD{memory}{suffix} R8, [{place}]
    STG{suffix} [R1], R8
    EXIT
"""
    run = run_text(text)
    assert np.array_equal(run.memory, interpret(read(text)).memory)
    assert run.memory.any()


@pytest.mark.parametrize(
    ("atomic", "stride", "passes"),
    [
        ("ATOMS.ADD R4, [R0], R5", 0, 32),
        ("ATOMS.ADD RZ, [R0], R5", 4, 1),
        ("ATOMS.ADD RZ, [R0], 2", 128, 32),
        ("ATOMS.ADD RZ, [R0], 1", 0, 1),
        ("ATOMS.ADD R4, [R0], 1", 0, 32),
        ("ATOMS.CAS R4, [R0], R5, R6", 8, 4),
    ],
)
def test_atomics_of_an_h200_take_their_lanes_one_by_one(atomic, stride, passes):
    """Each lane of a bank takes a pass, or two for a swap; adding 1 without a result serves all lanes of a word."""
    text = f".shared 4096\nS2R R0, LANEID\nIMAD R0, R0, {stride}, RZ\n{atomic}\nEXIT"
    assert run_sm(read(text), load("h200")).load_store_cycles[2] == passes


@pytest.mark.parametrize(("hits", "latency", "late"), [("l1", 31, 2), ("l2", 290, 2)])
@pytest.mark.parametrize("lines", [1, 4])
def test_a_load_of_an_h200_that_hits_is_later_with_each_line(hits, latency, late, lines):
    """A load that hits the L1 or L2 takes the measured latency, two cycles more for each further line."""
    place = f"S2R R0, LANEID\nIMAD R0, R0, {4 * lines}, RZ\nIADD3 R0, R0, c[x], RZ"
    text = f".buffer x u32 512\n{place}\nLDG R4, [R0]\nFADD R5, R4, R4\nEXIT"
    run = run_sm(read(text), load("h200", {"cache.hits": hits, "cache.l2_sector_parts": 1}), trace=True)
    issued = [cycle for cycle, _, _ in cycles_of(run)]
    assert issued[4] - issued[3] == latency + late * (lines - 1) + (hits == "l2")
    assert run.load_store_cycles[3] == lines
