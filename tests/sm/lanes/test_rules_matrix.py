"""Matrix instructions in the engines: as in program order, which has exact sums, whatever the lanes' guards."""

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from matrix_exact import QUADS
from strategies.launches import REPEATABLE
from strategies.machine_code import kernels

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from isa.nvidia.rows.tensor.matrix import FAMILIES
from isa.table import machine_row

H200 = load("h200")
OTHERS = ("IADD3", "LOP3", "ISETP", "FADD")  # what makes lanes differ


@pytest.mark.parametrize("name", [family.base for family in FAMILIES if not family.base.startswith(QUADS)])
@settings(REPEATABLE, max_examples=draws(6, 1))
@given(data=st.data())
def test_each_row_leaves_the_exact_sums(name, data):
    """Among other instructions each row leaves the interpreter's registers, RZ and partly filled warps included."""
    rows = [machine_row(each) for each in (name, name, *OTHERS)]
    kernel = data.draw(kernels(st.sampled_from(rows)))
    truth, run = interpret(kernel).registers, run_sm(kernel, H200)
    for warp in range(kernel.warps):
        lanes = min(32, kernel.threads - 32 * warp)
        assert np.array_equal(run.registers[warp][:, :lanes], truth[: len(run.registers[warp]), warp, :lanes])
