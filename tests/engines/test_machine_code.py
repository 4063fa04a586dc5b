"""Machine code in the engines: its values are those of the interpreter."""

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from interpreter.interpret import interpret
from strategies import moves
from strategies.launches import REPEATABLE
from strategies.machine_code import kernels

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load

H200 = load("h200")


@settings(REPEATABLE, max_examples=draws(150))
@given(kernels())
def test_registers_are_those_of_the_interpreter(kernel):
    """After random machine code every register of every lane holds what the interpreter, without time, finds."""
    truth, run = interpret(kernel).registers, run_sm(kernel, H200)
    for warp in range(kernel.warps):
        lanes = min(32, kernel.threads - 32 * warp)
        own = kernel.program.registers
        assert np.array_equal(run.registers[warp][:own, :lanes], truth[:own, warp, :lanes])


@pytest.mark.long
@settings(REPEATABLE, max_examples=draws(150))
@given(moves.kernels())
def test_accesses_of_all_sizes_are_those_of_the_interpreter(kernel):
    """Loads, stores and atomics of one warp in a few bytes leave in memory and registers what program order leaves."""
    truth, run = interpret(kernel), run_sm(kernel, H200)
    own = kernel.program.registers
    assert np.array_equal(run.memory[: len(truth.memory)], truth.memory)
    assert np.array_equal(run.registers[0][:own], truth.registers[:own, 0])
