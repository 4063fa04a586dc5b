"""What is kept of a bounded number of things: more of them are simulated as well."""

import pytest
from timing import run_text

from gpusim.sm.unit.capacities import REMEMBERED


@pytest.mark.long
@pytest.mark.jit
def test_a_program_may_be_large():
    """40,000 instructions issue once each, in one warp."""
    run = run_text("FADD R0, R1, R2\n" * 39_999 + "EXIT")
    assert (run.warp_instructions, len(run.issued)) == (40_000, 40_001)


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
