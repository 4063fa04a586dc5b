from __future__ import annotations

import pytest
from strategies.latency_tables import TABLE_3

from gpusim.launch.latencies import latencies
from gpusim.machine.machine import load
from isa.schedule.schedule import Latency


@pytest.mark.parametrize("name", ["LDS", "LDS.64", "LDS.128", "STS.128", "DFMA", "IADD", "ISETP.GT", "LOP.XOR"])
def test_the_c2050_has_the_papers_latencies(name):
    """Those of Tan's tables 2 and 3, which were measured on it; its sources may be overwritten as early or earlier."""
    found, paper = latencies(load("c2050")), TABLE_3
    assert found.issue_interval == paper.issue_interval
    assert found.of[name].raw == paper.of[name].raw
    assert found.of[name].war <= paper.of[name].war
    assert 332 <= found.of["LDG.128"].raw <= 1000
    assert [found.of[load].war for load in ("LDG.128", "LDS.128")] == [46, 46]


@pytest.mark.parametrize(
    ("path", "name", "latency"),
    [
        ("shared_memory.latency_64", "LDS.64", Latency(77, 38)),
        ("shared_memory.war_128", "STS.128", Latency(0, 77)),
        ("global_memory.latency", "LDG", Latency(77, 46)),
        ("texture.latency", "TEX", Latency(77)),
        ("local_memory.latency", "LDL", Latency(77)),
        ("unit.dp.latency", "DFMA", Latency(77)),
        ("unit.compare.latency", "ISETP.LT", Latency(77)),
    ],
)
def test_the_table_follows_the_machine(path, name, latency):
    """A number changed in the machine is that of the instructions which it belongs to."""
    assert latencies(load("c2050", {path: 77})).of[name] == latency


def test_a_warp_issues_no_faster_than_its_scheduler():
    """Where the issue interval is shorter than the slots lie apart, the slots count."""
    assert latencies(load("c2050", {"schedulers.issue_interval": 1, "schedulers.interval": 4})).issue_interval == 4
