"""Both engines on the same kernel and machine, and the differences of their answers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from scan.every_cycle import Scan

from gpusim.engines.simulate import run_sm
from gpusim.engines.sm_run import SmRun
from gpusim.machine.machine import Machine
from gpusim.sm.account.record.declaration import COPY, HOLD, REPLAY, SELECT, TRACE_KINDS, WRITE
from gpusim.sm.unit.stall import Stall
from isa.kernel import Kernel

ARRAYS = ("trace", "ends", "stalls", "lost", "issued", "active", "load_store_cycles", "memory")
UNTOLD = (HOLD, SELECT, REPLAY, WRITE)  # the scan knows only what they cost
DRAWN = TRACE_KINDS[:COPY]  # the others are of copies, barriers in shared memory (test_rounds.py) and products
NUMBERS = ("cycles", "empty", "blocks", "warp_slots", "pipe_cycles")


def run_both(kernel: Kernel, machine: Machine, **options: Any) -> tuple[SmRun, SmRun]:
    """Run the compiled and the reference engine, both with a trace."""
    compiled = run_sm(kernel, machine, engine="compiled", trace=True, **options)
    return compiled, run_sm(kernel, machine, engine="reference", trace=True, **options)


def differences(one: SmRun, other: SmRun) -> list[str]:
    """Names of what two runs disagree on; registers count where both have computed them."""
    both = () if "trace-driven" in (one.feed, other.feed) else ("registers",)
    arrays = [name for name in (*ARRAYS, *both) if not np.array_equal(getattr(one, name), getattr(other, name))]
    return arrays + [name for name in NUMBERS if getattr(one, name) != getattr(other, name)]


def seen(run: SmRun) -> set[str]:
    """Trace kinds and stall reasons that occurred in a run, each once."""
    kinds = {TRACE_KINDS[kind] for kind in run.trace.kind.tolist()}
    reasons = {reason.name for reason in Stall if run.stalls[:, reason].any()}
    return kinds | reasons | ({Stall.NO_WARP.name} if run.empty else set())


def rarest(counts: Counter[str]) -> tuple[str, int]:
    """The trace kind or stall reason that occurred in the fewest runs."""
    return min(((name, counts[name]) for name in (*DRAWN, *Stall.__members__)), key=lambda pair: pair[1])


def mistakes(run: SmRun, scanned: Scan) -> list[str]:
    """Names of what a run and the scan of every cycle disagree on."""
    agreed = {
        "events": [_event(record) for record in run.trace if record.kind not in UNTOLD] == scanned.events,
        "stalls": _nonzero(run.stalls) == +scanned.stalls,
        "lost": _nonzero(run.lost) == +scanned.lost,
        "ends": run.ends.tolist() == scanned.ends,
        "cycles": run.cycles == scanned.cycles,
        "empty": run.empty == scanned.empty,
        "memory": np.array_equal(run.memory, scanned.memory),
        "registers": all(_same_registers(run, scanned, slot) for slot in scanned.registers),
    }
    return [name for name, same in agreed.items() if not same]


def _same_registers(run: SmRun, scanned: Scan, slot: int) -> bool:
    """Whether the registers of a warp slot's last warp are equal, in the lanes that have a thread."""
    own = scanned.registers[slot]
    return np.array_equal(run.registers[slot][:, : own.shape[1]], own)


def _event(record: Any) -> tuple[Any, ...]:
    numbers = (record.agent, record.warp, record.block, record.pc, record.detail)
    return (int(record.cycle), TRACE_KINDS[record.kind], *map(int, numbers))


def _nonzero(cycles: Any) -> dict[tuple[int, Stall], int]:
    rows, reasons = np.nonzero(cycles)
    return {(int(r), Stall(int(s))): int(cycles[r, s]) for r, s in zip(rows, reasons, strict=True)}
