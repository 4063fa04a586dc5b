"""The proof that control codes keep a program's order, for pairs of machine code's instructions."""

import numpy as np
import pytest

from gpusim.launch.codes.code_order import keeps_order
from gpusim.launch.decode import decode
from gpusim.machine.machine import load
from isa.dataflow.lanes.divergence import reconvergence_points
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.nvidia.control import Control
from isa.nvidia.lowering.lower import lowered
from isa.program import Program

H200, RTX2080TI = load("h200"), load("rtx2080ti")
PRODUCT = "IMAD.WIDE.U32 R4, R2, R3, RZ"
UPPER = "IMAD.HI.U32 R4, R2, R3, RZ"
SUM = "LEA.HI.X R5, R8, R9, RZ, 0x2, P0"


def in_order(*lines, machine=H200):
    """Whether the proof holds for lines with their codes; the last instruction that it covers is followed by EXIT."""
    program = Program(tuple(_instruction(*line) for line in (*lines, (5, "EXIT"))))
    kernel = Kernel("coded", program, (1, 1, 1), (32, 1, 1), banks={0: bytes(1024)})
    rows = decode(kernel, machine, np.ones(len(program), np.bool_), reconvergence_points(program))
    return keeps_order(program, rows, machine.dependence.yield_stall)


def _instruction(stall, text, **codes):
    form = lowered(text)
    return Instruction(form.row, form.operands, form.guard, control=Control(stall, **codes))


@pytest.mark.parametrize(
    ("first", "second", "cycles"),
    [
        ("IMAD R4, R2, R3, RZ", "LOP3.LUT R9, R4, 0x1, RZ, 0x3c, !PT", 4),
        (PRODUCT, "LOP3.LUT R9, R4, 0x1, RZ, 0x3c, !PT", 3),
        (PRODUCT, "IADD3 R8, P0, R6, R4, RZ", 3),
        (PRODUCT, "LEA R8, P0, R4, UR4, 0x2", 3),
        (UPPER, "IMAD.MOV R5, RZ, RZ, -R4", 4),
        (SUM, "IMAD.WIDE R6, R2, 0x20, R4", 3),
        (SUM, "IADD3 R6, R5, R2, RZ", 4),
        ("DSETP.GT.AND P0, PT, R2, R4, PT", "SEL R9, RZ, 0x1, !P0", 6),
        ("DMUL R2, R4, R6", "MUFU.RCP64H R9, R3", 6),
        ("HADD2 R5, R2.H0_H0, R5.H0_H0", "HADD2 R8, R5.H0_H0, R2.H0_H0", 4),
        ("HADD2.F32 R5, -RZ, R2.H0_H0", "MUFU.RCP R8, R5", 4),
        ("HFMA2.MMA R5, -RZ, RZ, 0, 0", "IADD3 R6, R5, R2, RZ", 6),
        ("F2FP.F16.F32.PACK_AB R3, RZ, R2", "IADD3 R6, R3, R2, RZ", 4),
        ("I2I.S8.S32.SAT R3, R2", "PRMT R9, R3, 0x8880, RZ", 4),
    ],
)
def test_a_result_is_there_after_these_cycles(first, second, cycles):
    """Code may count on a result that many cycles after its instruction, as ptxas does, and not sooner."""
    assert in_order((cycles, first), (15, second))
    assert not in_order((cycles - 1, first), (15, second))


@pytest.mark.parametrize("text", ["IMAD R0, R4, R2, R0", "IMAD.WIDE R6, R4, R2, R8", "IMAD.HI.U32 R5, R5, R4, R3"])
def test_a_multiply_add_of_turing_is_there_after_four_cycles(text):
    """On an RTX 2080 Ti, code may count on an IMAD's result 4 cycles after it, as ptxas for sm_75 does; not sooner."""
    writer = "IMAD R4, R2, c[0x0][0x174], R3"
    assert in_order((4, writer), (15, text), machine=RTX2080TI)
    assert not in_order((3, writer), (15, text), machine=RTX2080TI)


def test_registers_of_a_warp_may_be_overwritten_behind_an_access():
    """An access reads what its lanes share at issue; an own register of a lane must not be overwritten so soon."""
    access = (1, "STS [R2+UR4], R3"), (1, "BAR.SYNC.DEFER_BLOCKING 0x0")
    assert in_order(*access, (15, "ULDC.64 UR4, c[0x0][0x218]"))
    assert not in_order(*access, (15, "MOV R2, 0x4"))
    assert not in_order(*access, (15, "MOV R3, 0x4"))
