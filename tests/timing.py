"""Short listings on one SM of a GTX 580 with few of its peculiarities, for tests that look at single cycles."""

from __future__ import annotations

from collections.abc import Mapping

from gpusim.engines.simulate import run_sm
from gpusim.engines.sm_run import SmRun
from gpusim.machine.machine import Machine, load
from gpusim.machine.schema import PIPE_UNITS
from gpusim.sm.account.record.declaration import TRACE_KINDS
from gpusim.sm.unit.stall import Stall
from isa.table import ROWS
from isa.text.listing import read

# One scheduler with a slot every 2 cycles, no skew, room in the queue: fixed here, as calibration may change them.
PLAIN: Mapping[str, int | str] = {
    "chip.sms": 1,
    "schedulers.count": 1,
    "schedulers.interval": 2,
    "schedulers.stagger": 0,
    "schedulers.issue_interval": 6,
    "schedulers.policy": "lrr",
    "issue.rotate": 0,
    "issue.refused_wastes_slot": 0,
    "instruction_replay.pass_slots": 0,
    "instruction_replay.request_slots": 0,
    "load_store.queue": 8,
    "barrier.per_warp": 0,
    "launch.warp_skew": 0,
    "launch.block_skew": 0,
    "global_memory.latency": 600,
    "texture.latency": 600,
}

# Unit classes that the GTX 580 lacks, so that every instruction of the table runs.
ADDED: dict[str, int | str] = {
    f"unit.{unit}.{key}": value
    for unit in PIPE_UNITS
    if unit not in load("gtx580").unit
    for key, value in (("pipe", "int16"), ("latency", 18))
}

# The kinds of matrix instructions that the table has, with the intervals and latencies of an H200.
ADDED |= {
    f"matrix.{row.matrix}.{key}": getattr(load("h200").matrix[row.matrix], key)
    for row in ROWS
    if row.matrix
    for key in ("interval", "latency")
}

# Ports between the schedulers and the load/store unit, with the times of an H200 (docs/hopper.md).
PORT: Mapping[str, int | str] = {
    "memory_port.units": "shuffle special",
    "memory_port.cycles": 2,
    **{f"memory_port.store_{width}": cycles for width, cycles in ((32, 4), (64, 6), (128, 10))},
    "memory_port.global_store": 6,
    "memory_port.special": 2,
    "memory_port.late_cycles": 2,
    "memory_port.early_64": 3,
    "memory_port.early_128": 6,
    "memory_port.war_store": 11,
    "memory_port.war_global_store": 13,
    "memory_port.held": 0,
    "shared_memory.rule": "volta",
    "shared_memory.pass_cycles": 1,
    **{f"shared_memory.latency_{width}": cycles for width, cycles in ((32, 23), (64, 26), (128, 32))},
    **{f"shared_memory.free_passes_{width}": passes for width, passes in ((32, 1), (64, 2), (128, 4))},
    "schedulers.interval": 1,
    "schedulers.issue_interval": 1,
}

# An issue in every cycle, and two register banks of which an instruction reads without a cost what it may.
BANKS: Mapping[str, int | str] = {
    "schedulers.interval": 1,
    "schedulers.issue_interval": 1,
    "pipe.sp.lanes": 32,
    "register_file.banks": 2,
    "register_file.mapping": "modulo",
    "register_file.carried": 0,
    "register_file.collecting": 0,
    "register_file.window": 2,
    "register_file.reuse": 0,
    "register_file.returned": 0,
}


def plain_machine(changes: Mapping[str, int | str] | None = None) -> Machine:
    """The machine with some more values replaced."""
    return load("gtx580", {**PLAIN, **ADDED, **(changes or {})})


def run_text(text: str, changes: Mapping[str, int | str] | None = None, *, engine: str = "compiled") -> SmRun:
    """Run a listing to its end, with a trace."""
    return run_sm(read(text), plain_machine(changes), engine=engine, trace=True)


def cycles_of(run: SmRun, kind: str = "issue") -> list[tuple[int, int, int]]:
    """(cycle, warp slot, pc) of each record of a kind."""
    return [(int(r.cycle), int(r.warp), int(r.pc)) for r in run.trace if TRACE_KINDS[r.kind] == kind]


def issue_times(text: str, changes: Mapping[str, int | str] | None = None) -> list[int]:
    """Cycles of the issues of warp slot 0, the EXIT left out."""
    return [cycle for cycle, warp, _ in cycles_of(run_text(text, changes)) if warp == 0][:-1]


def stalled(run: SmRun, reason: Stall) -> int:
    """Warp-cycles of a reason over the whole program."""
    return int(run.stalls[:, reason].sum())
