"""Cross-lane instructions in the engines: as in program order, with lanes that take no part."""

import numpy as np
import pytest
from timing import run_text

from gpusim.units.opcodes import ACROSS
from isa.execute.interpret import interpret
from isa.text.listing import read

EXCHANGE = """
.block 44
.buffer y u32 44
    S2R R0, TID.X
    IMUL R1, R0, 0x9e3779b1
    SHR.U32 R2, R1, 27
    LOP.AND R3, R1, 4
    ISETP.NE P0, R3, 0
    ISETP.LT P1, R1, 0
    MOV R4, 7
    {guard}{instruction}
    SHL R5, R0, 2
    IADD R5, R5, c[y]
    STG [R5], R4
    EXIT
"""


@pytest.mark.parametrize("guard", ["", "@P0 ", "@!P0 ", "@!PT "])
@pytest.mark.parametrize(
    "instruction",
    ["SHFL.IDX R4, R1, R2", "SHFL.BFLY R4, R1, 5", "SHFL.IDX R4, R0, 12", "VOTE.BALLOT R4, !P1", "REDUX.SUM R4, R1"],
)
def test_results_are_those_of_program_order(instruction, guard):
    """For a full warp and one of 12 threads, under any guard, memory equals the interpreter's."""
    text = EXCHANGE.format(instruction=instruction, guard=guard)
    assert np.array_equal(run_text(text).memory, interpret(read(text)).memory)


def test_every_function_across_lanes_is_chosen_by_its_own_index():
    """The four cross-lane functions of the table are all different for the rule."""
    assert len(set(ACROSS)) == len(ACROSS) == 4
