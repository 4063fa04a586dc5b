"""Decoded programs for walks that follow the path alone: what decides where warps go is computed, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusim.launch.rows.visits import lead
from gpusim.sm.unit.opcodes import BRANCH, COMPUTE, EXIT, INDEX, NOTHING, Held
from isa.dataflow.memory.address_slice import control_slice
from isa.kernel import Kernel


def only(rows: Any, kernel: Kernel) -> None:
    """Let decoded rows compute the path alone, and lead each pc to the next one that decides it or depends on it."""
    goes = np.isin(rows["action"], (BRANCH, EXIT)) | (rows["steers"] != 0) | (rows["narrows"] != 0)
    computed = rows["value"] == INDEX[Held.MOVED]  # which decides where lanes meet
    computed[:-1] |= control_slice(kernel.program)
    rows["evaluate"] = rows["located"] = computed
    rows["action"] = np.where(computed | goes | (rows["action"] == COMPUTE), rows["action"], NOTHING)
    for name in ("distinct", "grouping", "bulk", "cached"):
        rows[name] = 0
    goes[np.unique(rows["reconvergence"][rows["reconvergence"] > 0]) - 1] = True  # lanes meet behind it, whatever it is
    lead(rows, goes | computed)
