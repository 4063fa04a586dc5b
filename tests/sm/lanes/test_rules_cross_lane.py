"""Cross-lane instructions in the engines: as in program order, with lanes that take no part."""

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from strategies.launches import REPEATABLE
from strategies.machine_code import kernels
from timing import run_text

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.sm.jit.rule import COMPILED
from isa.table import ACROSS, ACROSS_TRUTHS, machine_row
from isa.text.listing import read
from isa.values.cross_lane import Tile

H200 = load("h200")

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
    [
        "SHFL.IDX R4, R1, R2",
        "SHFL.BFLY R4, R1, 5",
        "SHFL.IDX R4, R0, 12",
        "VOTE.BALLOT R4, !P1",
        "REDUX.SUM R4, R1",
        "MOVM.16.MT88 R4, R1",
    ],
)
def test_results_are_those_of_program_order(instruction, guard):
    """For a full warp and one of 12 threads, under any guard, memory equals the interpreter's."""
    text = EXCHANGE.format(instruction=instruction, guard=guard)
    assert np.array_equal(run_text(text).memory, interpret(read(text)).memory)


MNEMONICS = (
    *(f"SHFL.{mode}" for mode in ("IDX", "UP", "DOWN", "BFLY")),
    *(f"{vote}.{mode}" for vote in ("VOTE", "VOTEU") for mode in ("ANY", "ALL", "EQ")),
    *(f"MATCH.{mode}{kind}" for mode in ("ANY", "ALL") for kind in ("", ".U64")),
    *(f"REDUX{name}" for name in ("", ".SUM", ".MIN", ".MAX", ".MIN.S32", ".MAX.S32", ".OR", ".XOR")),
    *(f"CREDUX.{name}.F32{nan}" for name in ("MIN", "MAX", "MINABS", "MAXABS") for nan in ("", ".NAN")),
    *("R2UR", "ELECT", "MOVM.16.MT88"),
)
COMPARED = ("LOP3", "IADD3", "ISETP", "MOV")  # what makes lanes differ, and equal again


@pytest.mark.parametrize("mnemonic", MNEMONICS)
@settings(REPEATABLE, max_examples=draws(12 if COMPILED else 3, 1))
@given(data=st.data())
def test_each_row_computes_what_program_order_computes(mnemonic, data):
    """Among instructions that make lanes equal or different, each row leaves the interpreter's registers."""
    rows = [machine_row(name) for name in (mnemonic, mnemonic, mnemonic, *COMPARED)]
    kernel = data.draw(kernels(st.sampled_from(rows)))
    truth, run = interpret(kernel).registers, run_sm(kernel, H200)
    for warp in range(kernel.warps):
        lanes = min(32, kernel.threads - 32 * warp)
        assert np.array_equal(run.registers[warp][:, :lanes], truth[: len(run.registers[warp]), warp, :lanes])


def test_every_function_across_lanes_is_chosen_by_its_own_index():
    """The cross-lane functions of the table, and those of predicates, are all different for the rules, and tested."""
    exchanged = [across for across in ACROSS if not isinstance(across, Tile)]
    assert len(set(ACROSS)) == len(ACROSS)
    assert len(exchanged) == len({machine_row(name).across for name in MNEMONICS})
    told = {machine_row(name).across_truth for name in MNEMONICS} - {None}
    assert len(set(ACROSS_TRUTHS)) == len(ACROSS_TRUTHS) == len(told)
