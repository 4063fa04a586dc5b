from __future__ import annotations

import numpy as np
import pytest
from interpreter.interpret import interpret

from isa.errors import UserError
from workloads.microbench.memory.bank_conflict import bank_conflict


@pytest.mark.parametrize(
    ("stride", "width"), [(0, 32), (1, 32), (2, 32), (32, 32), (33, 32), (2, 64), (6, 64), (0, 128), (4, 128)]
)
def test_every_lane_loads_the_words_at_its_stride(check, stride, width):
    """Each word holds its own index, and each lane leaves the result of the words at its stride."""
    check(bank_conflict(stride, width=width, warps=3, length=9, iterations=2))


@pytest.mark.parametrize(("stride", "width"), [(0, 32), (1, 32), (32, 32), (4, 128)])
def test_lanes_are_a_stride_apart(stride, width):
    """Lane l of every load is at byte 4 * stride * l."""
    kernel, seen = bank_conflict(stride, width=width, length=4), []
    loads = {pc for pc, i in enumerate(kernel.program.instructions) if i.row.mnemonic.startswith("LDS")}
    interpret(kernel, observe=lambda pc, _, addresses, __: seen.append(addresses[0]) if pc in loads else None)
    assert len(seen) == 4
    assert all((lanes == 4 * stride * np.arange(32)).all() for lanes in seen)


@pytest.mark.parametrize("bad", [{"width": 16}, {"stride": -1}, {"stride": 1, "width": 64}, {"length": 3}])
def test_bad_parameters_are_refused(bad):
    """Unknown widths, negative or misaligning strides and too few loads raise UserError."""
    with pytest.raises(UserError, match=r"^bank-conflict: "):
        bank_conflict(**bad)
