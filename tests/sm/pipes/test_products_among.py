"""Random products by a warpgroup, with tensor copies, barriers in shared memory, fences and arithmetic among them."""

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from strategies.launches import REPEATABLE
from strategies.products import SETTINGS, products
from twins import differences

from gpusim.engines.simulate import run_sm
from gpusim.engines.walks.program_order import walk
from gpusim.machine.machine import load


@pytest.mark.jit
@pytest.mark.long
@settings(REPEATABLE, max_examples=draws(40))
@given(products(), SETTINGS)
def test_engines_and_program_order_give_what_numpy_gives(drawn, numbers):
    """Sums are NumPy's, memory that of program order; both engines take the same cycles, for the same reasons."""
    kernel, machine = drawn.launch(), load("h200", {"chip.sms": 1} | numbers)
    expected = walk(kernel).memory
    assert np.array_equal(drawn.left(kernel, expected), drawn.sums(kernel))
    compiled, reference = (run_sm(kernel, machine, engine=engine, trace=True) for engine in ("compiled", "reference"))
    assert np.array_equal(compiled.memory, expected)
    assert differences(compiled, reference) == []
