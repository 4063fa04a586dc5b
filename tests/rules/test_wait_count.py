import pytest

from gpusim.engines.simulate import run_sm
from gpusim.machine import load
from gpusim.stall import Stall
from gpusim.state import ISSUE
from isa.listing import read

PIPE = {"pipe": "sp", "latency": 50}
SCALAR = ".buffer a u32 64 = iota\nS_MOV_B32 s0, c[a]\nS_LOAD_DWORD s4, s0, 4\nV_MOV_B32 v1, s4\nEXIT"
LOADS = ".block {threads}\n.buffer a u32 1024\nMOV R0, c[a]\n" + "LDG RZ, [R0]\n" * 48 + "EXIT"


@pytest.mark.parametrize("most", [2, 4, 8])
def test_a_warp_has_so_many_accesses_under_way(most):
    """By Little's law a warp that may have n loads under way takes a latency for each n of them."""
    changes = {"outstanding.vector": most, "outstanding.shared": 50, "dependence.rule": "codes"}
    machine = load("gtx980", changes)
    cycles = run_sm(read(LOADS.format(threads=32)), machine).cycles
    assert cycles == pytest.approx(48 / most * machine.global_memory.latency, rel=0.1)


def test_each_warp_has_its_own_limit():
    """Eight warps have eight times as much under way as one, and take about as long."""
    changes = {"outstanding.vector": 4, "outstanding.shared": 50, "chip.dram_mbs": 10**8}
    one, eight = (run_sm(read(LOADS.format(threads=32 * n)), load("gtx980", changes)) for n in (1, 8))
    assert eight.cycles < 1.1 * one.cycles
    assert eight.stalls[:, Stall.MIO_THROTTLE].sum() > 7 * one.stalls[:, Stall.MIO_THROTTLE].sum() > 0


def test_a_scalar_load_is_no_access_under_way():
    """Without wait counters a scalar load's reader waits for its latency, however many accesses there may be."""
    scalar = {"scalar_file.registers": 800, "scalar_file.unit": 16, "scalar_file.per_warp": 102}
    pipes = {f"unit.{unit}.{key}": value for unit in ("smem", "uniform") for key, value in PIPE.items()}
    for more in ({}, {"outstanding.vector": 1, "outstanding.shared": 1}):
        run = run_sm(read(SCALAR), load("gtx580", scalar | pipes | more), trace=True)
        issued = [int(record.cycle) for record in run.trace if record.kind == ISSUE]
        assert issued[2] - issued[1] == PIPE["latency"]
