"""The capacities of the simulator: the largest programs run, and the message names what is too large."""

import pytest
from timing import run_text

from gpusim.launch.launch import launch
from gpusim.machine.machine import load
from gpusim.sm.unit.capacities import PROGRAM, REMEMBERED
from isa.errors import UserError
from isa.text.listing import read

LARGEST = 32_768


@pytest.mark.long
@pytest.mark.jit
def test_the_largest_program_runs():
    """32,768 instructions issue once each, in one warp."""
    run = run_text("FADD R0, R1, R2\n" * (LARGEST - 1) + "EXIT")
    assert (run.warp_instructions, len(run.issued)) == (LARGEST, LARGEST + 1)


@pytest.mark.long
def test_a_larger_program_is_refused():
    """One instruction more is refused, with what can be done about the code."""
    assert PROGRAM == LARGEST + 1
    message = f"instructions = {LARGEST + 1}: the simulator holds {LARGEST}; unroll loops less, or split the kernel"
    with pytest.raises(UserError, match=message):
        launch(read("MOV R0, 0\n" * LARGEST + "EXIT"), load("gtx580"))


@pytest.mark.jit
def test_accesses_that_share_the_place_where_costs_are_remembered_have_costs_of_their_own():
    """Loads from one register, of words 16 bytes apart, take 4 passes of 2 cycles; those of 16 bytes take 8.

    The first load and the last have one place, as there is room for as many as lie between them. Two rounds.
    """
    text = f"""
.shared 512
    S2R R0, LANEID
    SHL R0, R0, 4
    MOV R1, 0
again:
    LDS R2, [R0]
    {"LDS R2, [RZ];" * (REMEMBERED - 1)}
    LDS.128 R4, [R0]
    IADD R1, R1, 1
    ISETP.LT P0, R1, 2
    @P0 BRA again
    EXIT
""".replace(";", "\n")
    cycles = run_text(text, {"shared_memory.pass_cycles": 2}).load_store_cycles
    assert cycles[[3, 4, 3 + REMEMBERED]].tolist() == [2 * 4 * 2, 2 * 1 * 2, 2 * 8 * 2]
