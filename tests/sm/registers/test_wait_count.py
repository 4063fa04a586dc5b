import pytest
from timing import cycles_of, plain_machine, run_text

from gpusim.analysis.account.hazards import hazards
from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.sm.account.record.declaration import ISSUE
from gpusim.sm.unit.stall import Stall
from isa.text.listing import read

PIPE = {"pipe": "sp", "latency": 50}
SCALAR = ".buffer a u32 64 = iota\nS_MOV_B32 s0, c[a]\nS_LOAD_DWORD s4, s0, 4\nV_MOV_B32 v1, s4\nEXIT"
PATHS = {
    "wait_counters.vector": 63,
    "wait_counters.shared": 15,
    "constant_cache.latency": 30,
    "memory_paths.schedulers": 1,
    "memory_paths.store": 2,
    **{f"memory_paths.load_{width}": 100 for width in (32, 64, 128)},
    **{f"memory_paths.shared_{kind}": 2 for kind in ("load", "store_32", "store_64", "store_128")},
}
TWO_UNITS = """.block 32
.shared 256
.buffer a u32 64 = iota
MOV R0, 0
MOV R1, c[a]
LDG R2, [R1]
LDC R3, [R1]
LDS R4, [R0]
S_WAITCNT 63, 1
S_WAITCNT 63, 0
MOV R5, R3
EXIT"""
LOADS = ".block {threads}\n.buffer a u32 1024\nMOV R0, c[a]\n" + "LDG RZ, [R0]\n" * 48 + "EXIT"


@pytest.mark.parametrize("most", [2, 4, 8])
def test_a_warp_has_so_many_accesses_under_way(most):
    """By Little's law a warp that may have n loads under way takes 48 / n latencies for 48 loads, within 10 %."""
    changes = {"outstanding.vector": most, "outstanding.shared": 50, "dependence.rule": "codes"}
    machine = load("gtx980", changes)
    cycles = run_sm(read(LOADS.format(threads=32)), machine).cycles
    assert cycles == pytest.approx(48 / most * machine.global_memory.latency, rel=0.1)


def test_each_warp_has_its_own_limit():
    """Eight warps may have eight times as many loads under way as one, and take at most 10 % longer."""
    changes = {"outstanding.vector": 4, "outstanding.shared": 50, "chip.dram_mbs": 10**8}
    one, eight = (run_sm(read(LOADS.format(threads=32 * n)), load("gtx980", changes)) for n in (1, 8))
    assert eight.cycles < 1.1 * one.cycles
    assert eight.stalls[:, Stall.MIO_THROTTLE].sum() > 7 * one.stalls[:, Stall.MIO_THROTTLE].sum() > 0


def test_a_scalar_load_is_no_access_under_way():
    """Without wait counters a scalar load's reader waits for its latency, whatever the limit of accesses under way."""
    scalar = {"scalar_file.registers": 800, "scalar_file.unit": 16, "scalar_file.per_warp": 102}
    pipes = {f"unit.{unit}.{key}": value for unit in ("smem", "uniform") for key, value in PIPE.items()}
    for more in ({}, {"outstanding.vector": 1, "outstanding.shared": 1}):
        run = run_sm(read(SCALAR), load("gtx580", scalar | pipes | more), trace=True)
        issued = [int(record.cycle) for record in run.trace if record.kind == ISSUE]
        assert issued[2] - issued[1] == PIPE["latency"]


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_two_units_that_one_counter_counts_return_in_order_of_issue(engine):
    """Shared memory serves an LDS at 36; an earlier LDC is served after an LDG, at 124.

    The LDC's latency of 30 ends at 154: until then neither is back, and the count is 2; after that it is 0.
    """
    run = run_text(TWO_UNITS, PATHS, engine=engine)
    issued, served = ({pc: cycle for cycle, _, pc in cycles_of(run, kind)} for kind in ("issue", "serve"))
    assert [served[pc] for pc in (2, 3, 4)] == [24, 124, 36]
    assert [issued[pc] for pc in (5, 6)] == [154, 160]


def test_a_result_that_came_early_is_written_when_it_is_back():
    """A reader after the wait for a count of 1 is no hazard; a reader without a wait is a RAW hazard."""
    early = TWO_UNITS.replace("S_WAITCNT 63, 0\n", "").replace("MOV R5, R3", "MOV R5, R4")
    assert not hazards(read(early), plain_machine(PATHS)).hazards
    unwaited = early.replace("S_WAITCNT 63, 1\n", "MOV R6, 0\n" * 3)
    assert [(h.kind, h.register, h.pc) for h in hazards(read(unwaited), plain_machine(PATHS)).hazards] == [
        ("RAW", "R4", 8)
    ]
