from __future__ import annotations

import pytest

from gpusim.latencies import latencies
from gpusim.machine import load
from isa.schedule import Latency
from workloads.gemm.tan_program import TABLE_3


def test_the_c2050_has_the_papers_latencies():
    """Those of Tan's table 3, with the middle of its 332 to 1000 cycles for global memory; 18 for integers."""
    found = latencies(load("c2050"))
    assert found.reissue == TABLE_3.reissue
    assert {name: found.of[name] for name in TABLE_3.of if name != "LDG.128"} == {
        name: latency for name, latency in TABLE_3.of.items() if name != "LDG.128"
    }
    assert found.of["LDG.128"] == Latency(666, TABLE_3.of["LDG.128"].war)
    assert found.of["IADD"] == Latency(18)


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
    """Where the reissue interval is shorter than the slots lie apart, the slots count."""
    assert latencies(load("c2050", {"schedulers.reissue": 1, "schedulers.interval": 4})).reissue == 4
