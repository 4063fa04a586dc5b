"""The register file of a Maxwell compared with measurements: cycles of FFMAs by the banks of their sources."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.sm.account.record.declaration import ISSUE
from workloads.microbench.register_banks import register_banks

DATA = Path(__file__).parent.parent.parent / "data" / "maxwell_register_banks.csv"
GTX980 = load("gtx980")
WARPS = 16  # four for each scheduler
BEHIND, MEASURED = 30, 120  # FFMAs until the pace is steady, and those that are timed


def measured() -> list[tuple[str, float]]:
    """Pattern and measured cycles of six FFMAs of each row."""
    lines = [line for line in DATA.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return [(",".join(row[:3]), float(row[3])) for row in list(csv.reader(lines))[1:]]


def cycles_of_six(pattern: str, flagged: int = 0) -> float:
    """Cycles in which the oldest of a scheduler's four warps, which goes first, issues six FFMAs."""
    kernel = register_banks(pattern, flagged=flagged, warps=WARPS, length=BEHIND + MEASURED + 1)
    ffmas = [pc for pc, i in enumerate(kernel.program.instructions) if i.row.mnemonic == "FFMA"]
    trace = run_sm(kernel, GTX980, feed="trace-driven", trace=True).trace
    times = trace.cycle[(trace.kind == ISSUE) & (trace.warp == 0) & np.isin(trace.pc, ffmas)]
    return float(6 * (times[-1] - times[BEHIND]) / MEASURED)


@pytest.mark.long
@pytest.mark.jit
def test_every_measured_triple_is_met():
    """Each of 354 triples of FFMAs takes the cycles that were measured, within 3 %, the mean within 1 %."""
    errors = {pattern: cycles_of_six(pattern) / cycles - 1 for pattern, cycles in measured()}
    assert len(measured()) == 354
    assert {pattern: error for pattern, error in errors.items() if abs(error) > 0.03} == {}
    assert sum(map(abs, errors.values())) / len(errors) < 0.01


@pytest.mark.jit
@pytest.mark.parametrize(("flagged", "cycles"), [(0, 17.6), (1, 11.8), (2, 6.06)])
def test_reuse_flags_spare_the_reads_that_were_measured(flagged, cycles):
    """With 0, 1 or 2 of three sources in one bank flagged for reuse, six FFMAs take the measured cycles, within 3 %."""
    assert cycles_of_six("3000", flagged) == pytest.approx(cycles, rel=0.03)
