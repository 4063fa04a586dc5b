"""The latencies of a machine, in the form that the static scheduler (isa.schedule.schedule) takes."""

from __future__ import annotations

from gpusim.launch.decode import costs
from gpusim.machine.machine import Machine
from isa.row import Row
from isa.schedule.schedule import Latencies, Latency
from isa.table import ROWS


def latencies(machine: Machine) -> Latencies:
    """Return by mnemonic the cycles until the result, and until sources are read, for a warp that has the SM to itself.

    Those of memory are without conflicts, and those of global memory are as in the machine file: if caches keep tags,
    those of a miss. Instructions that the machine lacks, and those without a result, have none.
    """
    schedulers = machine.schedulers
    return Latencies(
        {row.mnemonic: _latency(row, machine) for row in ROWS}, max(schedulers.issue_interval, schedulers.interval)
    )


def _latency(form: Row, machine: Machine) -> Latency:
    row = costs(form, machine)
    return Latency(0 if form.is_store and not form.is_load else int(row["latency"]), int(row["war"]))
