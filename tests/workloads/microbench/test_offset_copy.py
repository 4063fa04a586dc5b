from __future__ import annotations

import pytest

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from isa.errors import UserError
from workloads.microbench.memory.offset_copy import WIDTHS, offset_copy


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("offset", [0, 1, 16])
def test_every_element_is_copied_to_its_place(check, width, offset):
    """Each block's words arrive behind the offset, at every width."""
    check(offset_copy(width, offset=offset, warps=2, blocks=3))


@pytest.mark.jit
@pytest.mark.parametrize(("offset", "factor"), [(0, 1), (1, 2), (16, 1)])
def test_doubles_that_straddle_lines_cost_twice(offset, factor):
    """On a C2050 16 doubles from the start of a line are a transaction, from any other place two."""
    machine = load("c2050", {"chip.dram_mbs": 14400})  # so little that latency is of no account
    best = run_sm(offset_copy(64, blocks=140), machine, feed="trace-driven").cycles
    here = run_sm(offset_copy(64, offset=offset, blocks=140), machine, feed="trace-driven").cycles
    assert here == pytest.approx(factor * best, rel=0.02)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"width": 16}, "width=16 is not allowed; give one of 32, 64, 128"),
        ({"offset": -1}, "offset=-1 is too small; give 0 or more"),
        ({"warps": 33}, "warps=33 lanes=32 makes 1056 threads; a block has 1024 at most"),
        ({"width": 128, "blocks": 200000}, "width=128 warps=32 blocks=200000: buffers need .*; give less"),
    ],
)
def test_bad_parameters_are_refused_in_one_line(parameters, message):
    """The message has the rule and what to give instead."""
    with pytest.raises(UserError, match=f"^offset-copy: {message}$"):
        offset_copy(**parameters)
