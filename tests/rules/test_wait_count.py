import pytest
from timing import issue_times

from gpusim.engines.simulate import run_sm
from gpusim.machine import load
from gpusim.stall import Stall
from isa.listing import read

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


def test_who_needs_a_scalar_load_waits_where_its_accesses_are_limited():
    """Beside a limit the scoreboard holds what a scalar load brings, for its 40 cycles."""
    scalars = {"scalar_file.registers": 800, "scalar_file.unit": 16, "scalar_file.per_warp": 102}
    text = ".buffer x u32 4\nS_MOV_B32 s0, c[x]\nS_LOAD_DWORD s1, s0, 0\nS_ADD_U32 s2, s1, s1\nS_ENDPGM"
    changes = scalars | {"outstanding.vector": 1, "outstanding.shared": 1, "unit.smem.latency": 40}
    _, load_at, add_at = issue_times(text, changes)
    assert add_at - load_at == 40
