"""Loads and stores move the right words, and their cost is remembered only as long as it holds."""

import numpy as np
import pytest
from timing import run_text

from isa.interpret import interpret
from isa.listing import read

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
    """The same address with 32 lanes, then with 2: 32 passes and 2."""
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


@pytest.mark.parametrize("space", ["S", "L"])
@pytest.mark.parametrize(("suffix", "words"), [("", 1), (".64", 2), (".128", 4)])
def test_what_is_stored_is_loaded(space, suffix, words):
    """Each width, in shared and in local memory, brings every word of every lane back."""
    place = "R0" if space == "S" else "RZ"
    fill = "\n".join(f"    IADD R{4 + w}, R0, {w}" for w in range(words))
    text = f"""
.shared 512
.local 16
.buffer y u32 128
    S2R R0, LANEID
    SHL R0, R0, 4
    IADD R1, R0, c[y]
{fill}
    ST{space}{suffix} [{place}], R4
    LD{space}{suffix} R8, [{place}]
    STG{suffix} [R1], R8
    EXIT
"""
    run = run_text(text)
    assert np.array_equal(run.memory, interpret(read(text)).memory)
    assert run.memory.any()
