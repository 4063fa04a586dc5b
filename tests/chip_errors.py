"""Launches of three blocks on three SMs that end in an error, whether SMs take turns or run ahead of each other."""

from __future__ import annotations

import pytest

from isa.errors import DeadlockError, ExecutionError, LimitError

MOST_CYCLES = 500
ERRORS = (  # text behind the grid, error, what its message has
    pytest.param("S2R R0, CTAID.X\nIADD R0, R0, 1\nLDS R1, [R0]\nEXIT", ExecutionError, "block 0", id="fault"),
    pytest.param(".block 64\nBAR.SYNC 0, 96\nEXIT", DeadlockError, "barrier 0", id="deadlock"),
    pytest.param("again:\nBRA again", LimitError, "after 500 cycles with 3 blocks placed", id="limit"),
)
