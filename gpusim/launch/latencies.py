"""The latencies of a machine as the static scheduler (isa.schedule.schedule) takes them."""

from __future__ import annotations

from gpusim.launch.decode import costs
from gpusim.machine.machine import Machine
from isa.schedule.schedule import Latencies, Latency
from isa.table import ROWS, Row


def latencies(machine: Machine) -> Latencies:
    """Return by mnemonic the cycles until a result, and until sources, are there for a warp that has the SM to itself.

    Those of memory are without conflicts, and of global memory as the machine file has them: where caches keep tags, of
    a miss. Instructions that the machine lacks, and those without result, have none.
    """
    schedulers = machine.schedulers
    return Latencies(
        {row.mnemonic: _latency(row, machine) for row in ROWS}, max(schedulers.issue_interval, schedulers.interval)
    )


def _latency(form: Row, machine: Machine) -> Latency:
    row = costs(form, machine)
    return Latency(0 if form.is_store and form.update is None else int(row["latency"]), int(row["war"]))
