"""Wider machines than any chip: eight schedulers, more banks, several passes in a cycle."""

import pytest
from twins import differences, run_both

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.simulation.simulation import simulate
from gpusim.sm.account.record.declaration import ISSUE
from gpusim.sm.pipes.pipe.declaration import instances
from gpusim.sm.unit.sm import FIRST_SCHEDULER
from gpusim.sm.unit.stall import Stall
from isa.text.listing import read
from workloads.catalog import make

EIGHT = {"schedulers.count": 8}
WIDER = {
    "eight": EIGHT,
    "eight, 64 warps": EIGHT | {"limits.warps": 64, "limits.threads": 2048},
    "64 banks": {"shared_memory.banks": 64},
    "128 banks": {"shared_memory.banks": 128},
    "half a cycle": {"shared_memory.pass_cycles": 1, "shared_memory.passes_per_cycle": 2},
}
LOADS = """
.block {threads}
.shared 49152
S2R R0, TID.X
SHL R0, R0, 4
MOV R20, 0
loop:
LDS{width} R4, [R0]
LDS{width} R8, [R0]
LDS{width} R12, [R0]
LDS{width} R16, [R0]
IADD R20, R20, 1
ISETP.LT P0, R20, 32
@P0 BRA loop
EXIT
"""


def sgemm():
    """The Lai SGEMM with enough blocks to fill an SM."""
    return make("sgemm-lai", {"m": "192", "n": "192", "k": "32"})


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("name", ["gtx580", "h200", "v100"])
@pytest.mark.parametrize("wider", WIDER)
def test_a_wider_machine_computes_and_keeps_its_bound(name, wider):
    """Values are right, the bound holds, warp-cycles and slots have reasons, and trace-driven cycles are the same."""
    machine = load(name, WIDER[wider])
    result = simulate(sgemm(), machine)
    run = result.run
    assert result.verification.verified
    assert result.bound.cycles <= run.cycles == run_sm(sgemm(), machine, feed="trace-driven").cycles
    assert run.stalls.min() >= 0
    assert run.stalls.sum() + run.empty == run.cycles * run.warp_slots
    used = run.stalls[:, Stall.SELECTED].sum()
    if machine.schedulers.dispatch_ports == 1:
        assert run.lost.sum() + used == run.cycles * machine.schedulers.count


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("wider", WIDER)
def test_the_engines_agree_on_wider_machines(wider):
    """Traces, stalls, registers and memory of both engines are equal, also with 64 warps on eight schedulers."""
    kernel = read(LOADS.format(threads=1024, width=".64").replace("SHL R0, R0, 4", "SHL R0, R0, 3"))
    assert differences(*run_both(kernel, load("h200", WIDER[wider]))) == []


@pytest.mark.jit
def test_64_warps_of_eight_schedulers():
    """Two blocks of 1,024 threads fill 64 warp slots, eight of each scheduler, and every slot issues."""
    kernel = read(".grid 264\n" + LOADS.format(threads=1024, width=""))
    run = run_sm(kernel, load("h200", EIGHT), trace=True)
    issues = run.trace[run.trace.kind == ISSUE]
    pairs = set(zip(issues.warp.tolist(), (issues.agent - FIRST_SCHEDULER).tolist(), strict=True))
    assert pairs == {(warp, warp % 8) for warp in range(64)}
    assert run.lost.sum() + len(issues) == 8 * run.cycles


@pytest.mark.jit
@pytest.mark.parametrize(
    ("changes", "width", "faster"),
    [
        ({"shared_memory.banks": 64}, "", 1),
        ({"shared_memory.banks": 64}, ".64", 2),
        ({"shared_memory.banks": 64}, ".128", 2),
        ({"shared_memory.banks": 128}, ".128", 4),
        ({"shared_memory.passes_per_cycle": 2}, ".64", 2),
        ({"shared_memory.passes_per_cycle": 2}, ".128", 2),
        ({"shared_memory.passes_per_cycle": 4}, ".128", 4),
    ],
)
def test_twice_the_bandwidth_serves_twice_as_many_wide_loads(changes, width, faster):
    """On a V100, wide loads take 1/2 of the unit's cycles with 64 banks or two passes a cycle, 1/4 with 128 or four."""
    text = LOADS.format(threads=256, width=width)
    if width == "":
        text = text.replace("SHL R0, R0, 4", "SHL R0, R0, 2")
    if width == ".64":
        text = text.replace("SHL R0, R0, 4", "SHL R0, R0, 3")
    before, after = (int(run_sm(read(text), load("v100", each)).load_store_cycles.sum()) for each in ({}, changes))
    assert before == faster * after


def test_each_pair_of_eight_schedulers_shares_a_pipe():
    """Eight schedulers of a GTX 580 have four of each pipe that a pair shares, and two with `pipe.sp.schedulers=4`."""
    machine = load("gtx580", EIGHT | {"pipe.sp.schedulers": 4})
    assert [instances(machine, pipe) for pipe in ("sp", "int16", "tex")] == [2, 4, 4]
