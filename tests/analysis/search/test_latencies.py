from __future__ import annotations

import pytest
from strategies.latency_tables import TABLE_3

from gpusim.analysis.search.latencies import latencies
from gpusim.machine.machine import load
from isa.schedule.schedule import Latency


@pytest.mark.parametrize("name", ["LDS", "LDS.64", "LDS.128", "STS.128", "DFMA", "IADD", "ISETP.GT", "LOP.XOR"])
def test_the_c2050_has_the_papers_latencies(name):
    """The C2050 has the latencies of Tan's table 3; sources may be overwritten as early as there, or earlier."""
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
    """A latency changed to 77 in the machine is 77 for the instruction that it belongs to."""
    assert latencies(load("c2050", {path: 77})).of[name] == latency


def test_a_warp_issues_no_faster_than_its_scheduler():
    """With an issue interval of 1 and slots 4 cycles apart, a warp issues every 4 cycles."""
    assert latencies(load("c2050", {"schedulers.issue_interval": 1, "schedulers.interval": 4})).issue_interval == 4
