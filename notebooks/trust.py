"""What lesson 9 computes: the ledger's claims, an SGEMM with other guesses, and measurements beside simulations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import gpusim
from gpusim.analysis.validate import measured
from gpusim.analysis.validate.validation import DIRECTORY, PublishedPoint, outcomes, published_points
from workloads.catalog import make
from workloads.measured.probes import EXPERIMENTS, Probe, probe

LEDGER = Path(__file__).parents[1] / "docs" / "reproduction.md"  # written by `make reproduction`
WHOLE = LEDGER.with_name("validation-h200.md")  # written by `make validation`
LAUNCHES = "solo", "persm", "resident", "full"
CHIPS = "h200", "a100", "v100"
H200 = gpusim.load("h200")
ROWS = DIRECTORY / "h200.csv"
GUESSES: dict[str, Mapping[str, int | str]] = {  # other possible values of numbers that nobody measured on this card
    "policy gto": {"schedulers.policy": "gto"},
    "policy oldest": {"schedulers.policy": "oldest"},
    "schedulers out of step": {"schedulers.stagger": 1},
    "no turns at shared pipes": {"issue.rotate": 0},
    "latency of FFMA 22": {"unit.fp32.latency": 22},
    "a queue for two loads": {"load_store.queue": 2},
}


def ledger_rows() -> list[list[str]]:
    """Return error, kind and verdict of each claim, as the ledger has them."""
    rows = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in LEDGER.read_text(encoding="utf-8").splitlines()]
    return [[one.strip() for one in row[5:8]] for row in rows if re.fullmatch(r"[A-Z]{2}\d\d", row[0])]


def sgemm_effects() -> dict[str, float]:
    """Return by how many percent each of the other values changes the cycles of an SGEMM."""
    kernel = make("sgemm-lai", {"m": "768", "n": "768", "k": "480"})
    base = gpusim.simulate(kernel, "gtx580", values=False).cycles
    machines = {name: gpusim.load("gtx580", change) for name, change in GUESSES.items()}
    return {
        name: 100 * (gpusim.simulate(kernel, machine, values=False).cycles / base - 1)
        for name, machine in machines.items()
    }


def probe_of(row: measured.MeasuredRow) -> Probe | None:
    """Return the probe that is run for a measured row, if there is one."""
    return probe(row.experiment, row.op, row.param, row.warps, row.ilp, row.counts)


def whole_kernels() -> dict[str, list[float]]:
    """Return by kernel the error of each launch."""
    rows = [line.strip("| ").split(" | ") for line in WHOLE.read_text(encoding="utf-8").splitlines()]
    errors = {row[0]: row[2::2] for row in rows if len(row) == 1 + 2 * len(LAUNCHES) and row[2].endswith("%")}
    return {kernel: [float(cell.rstrip(" %")) / 100 for cell in cells] for kernel, cells in errors.items()}


def held_out(chip: str) -> list[PublishedPoint]:
    """Return the figures of a chip that nothing was fitted to."""
    return [point for point in published_points(gpusim.load(chip)) if point.kind == "predicted"]


def simulated() -> dict[str, object]:
    """Return what the pictures show: half a minute of simulations, and two tables of the documents."""
    rows = measured.outcomes(measured.read(ROWS, EXPERIMENTS), H200, probe_of, 1)
    return {
        "ledger": ledger_rows(),
        "effects": sgemm_effects(),
        "rows": {str(one.row.line): one.simulated for one in sorted(rows, key=lambda one: one.row.line)},
        "whole": whole_kernels(),
        "figures": {
            chip: [one.simulated for one in outcomes(held_out(chip), gpusim.load(chip), make)] for chip in CHIPS
        },
    }
