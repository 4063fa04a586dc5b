"""The whole project in two seconds: text in, values checked, cycles explained, on both engines."""

import numpy as np
from interpreter.interpret import interpret

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.sm.unit.stall import Stall
from isa.text.listing import read

SUM = """
.kernel sum
.block 64
.shared 256
.buffer x i32 64 = iota
.buffer total i32 1
.expect total = 2016
    S2R R0, TID.X
    SHL R1, R0, 2
    IADD R2, R1, c[x]
    LDG R3, [R2]
    STS [R1], R3
    BAR.SYNC 0
    MOV R4, 0
    MOV R5, 0
add:
    LDS R6, [R5]
    IADD R4, R4, R6
    IADD R5, R5, 4
    ISETP.LT P0, R5, 256
    @P0 BRA add
    ISETP.EQ P1, R0, 0
    MOV R7, c[total]
    @P1 STG [R7], R4
    EXIT
"""


def test_a_kernel_from_text_to_stalls():
    """A sum over a block is right, both engines take the same cycles, and every warp-cycle has its reason."""
    kernel, machine = read(SUM), load("gtx580")
    compiled, reference = (run_sm(kernel, machine, engine=name, trace=True) for name in ("compiled", "reference"))
    (expected,) = kernel.outcome()
    assert expected.value.tolist() == [sum(range(64))]
    assert np.array_equal(compiled.memory, interpret(kernel).memory)
    assert np.array_equal(compiled.trace, reference.trace)
    assert compiled.stalls.sum() + compiled.empty == compiled.cycles * compiled.warp_slots
    assert compiled.stalls[:, Stall.SHORT_SCOREBOARD].sum() > compiled.stalls[:, Stall.BARRIER].sum() > 0
