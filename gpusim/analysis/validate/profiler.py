"""What NVIDIA's profiler ncu counted of whole kernels, and its names for our stall reasons.

`gpusim/published/h200_kernels.csv` was counted on an H200 in November 2026, in launches of the program
workloads/measured/whole/kernels.cu: `solo` (matrix products with an inner size of 256) and `full`. Counters are sums
over the chip, of a launch that was repeated for each group of counters, clocks and caches left alone (`ncu
--clock-control none --cache-control none`). The columns of stall reasons have the warps that wait for a reason, for
each cycle in which their scheduler issues (smsp__average_warps_issue_stalled_*_per_issue_active.ratio); reasons that
never held are left out. As shares of their sum they are the parts of the time in which a warp was there.

Some of our reasons have two names of ncu's, by the instruction that waits. Registers that an access to global or local
memory has not read yet are `long_scoreboard`: so EXIT behind stores is. The samples of each instruction say so, of ten
kernels with tensor cores on an H200, 2026-11-22. What a fence waits for, and what waits for a fence, is `membar`.

ncu's `gmma` has no reason here. By the samples of each instruction of twelve Triton launches (H200, 2026-11-30) it is
the wait at the first matrix instruction behind WARPGROUP.ARRIVE until all four warps have come, 0.1 to 1.3 % of the
time. Here warps go on, and wait as long for the product, as `barrier`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpusim.sm.unit.stall import Stall
from isa.instruction import Instruction
from isa.nvidia.control import BARRIERS
from isa.program import Program
from isa.row import Unit

DIRECTORY = Path(__file__).parents[2] / "published"
SUFFIX = "_kernels.csv"
SELECTED = "selected"  # the warp issues: no stall
MEMBAR = "membar"  # a fence
FAR = (Unit.GLOBAL, Unit.LOCAL)
L1_LOADED, L1_STORED = "l1_loaded_sectors", "l1_stored_sectors"
COUNTERS = {  # column of the file, and ncu's name of it
    "instructions": "smsp__inst_executed.sum",
    L1_LOADED: "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    L1_STORED: "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l2_read_sectors": "lts__t_sectors_op_read.sum",
    "l2_written_sectors": "lts__t_sectors_op_write.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_written_bytes": "dram__bytes_write.sum",
}
# Our reasons by ncu's names, where they differ. None: ncu counts no such cycles, as its warp isn't there.
RENAMED: Mapping[Stall, str | None] = {
    Stall.LAUNCH_DELAY: None,
    Stall.WARP_EXITED: None,
    Stall.NO_WARP: None,
    Stall.ISSUE_INTERVAL: "wait",  # a fixed number of cycles after an issue
    Stall.WAR_HAZARD: "short_scoreboard",  # ncu has the barrier's kind only; sources are read by the load/store queue
    Stall.INSTRUCTION_REPLAY: "dispatch_stall",  # the dispatcher is not free
    Stall.DP_ISSUE_CONFLICT: "math_pipe_throttle",  # the pipe belongs to the other scheduler
}


@dataclass(frozen=True)
class Profile:
    """What ncu counted of a launch: COUNTERS by name, and the share of each stall reason of all warp-cycles."""

    counters: Mapping[str, float]
    stalls: Mapping[str, float]


def ncu_name(reason: Stall) -> str | None:
    """Return ncu's name of a stall reason; None if the profiler counts no warp there."""
    return RENAMED[reason] if reason in RENAMED else reason.name.lower()


def ncu_shares(cycles: NDArray[np.int64], program: Program) -> dict[str, float]:
    """Return the share of each of ncu's reasons; `cycles` are warp-cycles of each instruction by our reasons."""
    found: dict[str, float] = {}
    for pc, row in enumerate(cycles[: len(program.instructions)].tolist()):
        for reason in Stall:
            if row[reason] and (name := _name_at(program, pc, reason)):
                found[name] = found.get(name, 0) + float(row[reason])
    return _shares(found)


def _name_at(program: Program, pc: int, reason: Stall) -> str | None:
    """Return ncu's name of a stall reason of the instruction at `pc`."""
    if (reason is Stall.DRAIN and _is_fence(program, pc)) or (reason is Stall.BARRIER and _is_fence(program, pc - 1)):
        return MEMBAR
    if reason is Stall.WAR_HAZARD and any(one.row.unit in FAR for one in _readers(program, pc)):
        return ncu_name(Stall.LONG_SCOREBOARD)
    return ncu_name(reason)


def _is_fence(program: Program, pc: int) -> bool:
    return pc >= 0 and program.instructions[pc].row.mnemonic.startswith(MEMBAR.upper())


def _readers(program: Program, pc: int) -> Iterator[Instruction]:
    """Yield the last instruction before `pc`, in a loop behind it, that holds each read barrier it waits for."""
    code = program.instructions[pc].control
    for barrier in range(BARRIERS if code else 0):
        if code and code.waits >> barrier & 1:
            for at in (*range(pc - 1, -1, -1), *range(len(program.instructions) - 1, pc - 1, -1)):
                other = program.instructions[at]
                if other.control and other.control.read_barrier == barrier:
                    yield other
                    break


def profiles(key: str) -> dict[tuple[str, str], Profile]:
    """Return what was counted on a machine, by kernel and configuration; nothing where no kernel was profiled."""
    path = DIRECTORY / f"{key}{SUFFIX}"
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {(row.pop("kernel"), row.pop("configuration")): _profile(row) for row in csv.DictReader(file)}


def _profile(row: Mapping[str, str]) -> Profile:
    stalls = {name: float(value) for name, value in row.items() if name not in COUNTERS}
    return Profile({name: float(row[name]) for name in COUNTERS}, _shares(stalls))


def _shares(found: Mapping[str, float]) -> dict[str, float]:
    total = sum(found.values()) or 1.0
    return {name: value / total for name, value in found.items()}
