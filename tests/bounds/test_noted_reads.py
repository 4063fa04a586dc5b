"""Costs that points of a sweep share: the same as each point's own, whatever ran before."""

from __future__ import annotations

import pytest
from draws import few

from gpusim.bounds.bounds import bound
from gpusim.bounds.chain import access_cost, noted_reads
from gpusim.machine.machine import load
from workloads.catalog import make

SETTINGS = (
    {},
    {"unit.fp32.latency": 20},
    {"load_store.queue": 2},
    {"shared_memory.banks": 16},
    {"chip.dram_mbs": 50_000},
)


def test_a_key_has_the_numbers_that_were_read(monkeypatch):
    """Machines that differ in a number that was read have different keys; in one that nobody read, equal ones."""
    monkeypatch.setattr(noted_reads, "_READ", {})
    machines = [noted_reads.NotedReads(width=width, depth=[depth]) for width, depth in ((1, 2), (1, 3), (4, 2))]
    assert [machine.width for machine in machines] == [1, 1, 4]
    keys = [noted_reads.known_by(machine) for machine in machines]
    assert keys[0] == keys[1] != keys[2]
    assert machines[0].depth == [2]
    assert noted_reads.known_by(machines[0]) != noted_reads.known_by(machines[1])


@pytest.mark.jit
@pytest.mark.parametrize(("name", "bounds"), few([("bank-conflict", 2), ("sgemm-lai", 3), ("transpose", 2)], 1))
def test_bounds_do_not_depend_on_points_before(name, bounds):
    """The bound of each point is the same after other points as in a process that saw none, and they differ."""
    kernel = make(name, {})
    machines = [load("gtx580", settings) for settings in SETTINGS]
    after = [bound(kernel, machine).limits for machine in [*machines, *machines]]
    alone = []
    for machine in machines:
        access_cost._KEPT.clear()
        alone.append(bound(kernel, machine).limits)
    assert after == [*alone, *alone]
    assert len({tuple(sorted(one.items())) for one in alone}) >= bounds


def test_few_machines_are_kept(monkeypatch):
    """Costs of more machines than are kept push out those of the oldest; one with too many patterns is not kept."""
    monkeypatch.setattr(access_cost, "_KEPT", {})
    for number in range(access_cost.MACHINES + 3):
        access_cost._keep(number, {number: None})
    assert list(access_cost._KEPT) == list(range(3, access_cost.MACHINES + 3))
    access_cost._keep("large", dict.fromkeys(range(access_cost.PATTERNS + 1)))
    assert "large" not in access_cost._KEPT
