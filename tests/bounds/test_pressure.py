from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from strategies.launches import REPEATABLE, kernels, launches

from gpusim.bounds.bounds import bound, pressures, works
from gpusim.bounds.pressure import added, load_store_units
from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.sm.memory.cache.declaration import tagged
from isa.dataflow.lanes.divergence import reconvergence_points
from isa.operands.operand import PT
from isa.row import MEMORY_UNITS
from isa.text.listing import read
from workloads.catalog import make

UNITS = "load/store unit", "shared-memory unit", "constant unit"
KERNELS = [
    ("gtx580", "sgemm-lai", {"m": "192", "n": "192", "k": "32"}),
    ("gtx580", "mix", {"iterations": "2"}),
    ("gtx680", "register-banks", {}),
    ("h200", "sgemm-lai", {"m": "192", "n": "192", "k": "32"}),
    ("mi60", "sgemm-vega-legacy", {}),
]


def of(text: str, machine: str = "gtx580") -> dict:
    """Return the pressures of a listing."""
    return pressures(read(text), load(machine))[1]


def test_four_warps_of_ffmas_by_hand():
    """Two schedulers with an SP pipe each issue every 2 cycles: 4 FFMAs take 4 cycles of slots and of the pipe."""
    found = of(".block 128\n" + "FFMA R0, R1, R2, R3\n" * 10 + "IMUL R0, R1, R2\nEXIT")
    assert [found["issue slots"].within((pc,)) for pc in (0, 9, 10, 11)] == [4, 4, 4, 4]
    assert [found["pipe sp"].within((pc,)) for pc in (0, 9, 10)] == [4, 4, 0]
    assert found["pipe int16"].within((10,)) == 8
    assert found["issue slots"].cycles == 48


def test_a_conflicting_load_takes_its_passes():
    """Lanes 8 words apart, 8 to a bank, take 8 passes of 2 cycles; the access issues again for 7 of the passes."""
    found = of(".shared 1024\nS2R R0, LANEID\nSHL R0, R0, 5\nLDS R1, [R0]\nEXIT")
    assert found["load/store unit"].within((2,)) == 16
    assert found["issue slots"].within((2,)) == 1 + 7


def test_an_access_that_no_lane_makes_takes_the_unit():
    """A load that a false guard leaves to no lane takes the H200's load/store unit for `memory_port.skipped` cycles."""
    found = of(".block 128\n.shared 512\nISETP.LT P0, RZ, 0\n@P0 LDS R1, [RZ]\nEXIT", "h200")
    assert found["load/store unit"].within((1,)) == 4 * load("h200").memory_port.skipped > 0


def test_a_replay_takes_every_port_of_its_scheduler():
    """On Kepler 32 lanes in one bank take 32 passes: each of the 31 replays keeps 2 of the 8 ports for a cycle."""
    found = of(".shared 8192\nS2R R0, LANEID\nSHL R0, R0, 8\nLDS R1, [R0]\nEXIT", "gtx680")
    assert found["issue slots"].within((0,)) == Fraction(1, 8)
    assert found["issue slots"].within((2,)) == Fraction(1 + 31 * 2, 8)


def test_a_constant_load_changes_no_other_access():
    """At 32 words of a line an `LDC` takes more cycles than an `LDG`, which takes as many with the `LDC` as without."""
    head = ".buffer a u32 32\nS2R R0, LANEID\nSHL R0, R0, 2\nIADD R0, R0, c[a]\n"
    both, alone = (of(head + text + "EXIT", "gtx580") for text in ("LDC R1, [R0]\nLDG R2, [R0]\n", "LDG R2, [R0]\n"))
    assert both["load/store unit"].within((4,)) == alone["load/store unit"].within((3,)) > 0
    assert both["load/store unit"].within((3,)) > both["load/store unit"].within((4,))


def test_scalar_loads_do_not_use_the_load_store_unit():
    """Scalar loads use only a pipe of their own, even after a vector load of the same addresses."""
    head, load = (
        ".block 64\n.warp 64\n.buffer a u32 64\nS_MOV_B32 s0, c[a]\nV_MOV_B32 v0, c[a]\n",
        "S_LOAD_DWORDX4 s[4:7], s0, 0x0\n",
    )
    found = of(f"{head}GLOBAL_LOAD_DWORDX4 v[4:7], v0, off\n{load * 4}S_WAITCNT 0, 0\nEXIT", "mi60")
    assert found["load/store unit"].within((2,)) == found["load/store unit"].cycles > 0
    assert found["pipe smem"].cycles > 0


def test_a_load_moves_its_lines():
    """A line of 128 bytes takes 16.4 cycles of the SM's share of the bandwidth; a shared load takes none."""
    found = of(".buffer a f32 32\n.shared 128\nMOV R0, c[a]\nLDG R1, [R0]\nLDS R2, [RZ]\nEXIT")
    assert float(found["memory bandwidth"].within((1,))) == pytest.approx(128 / 7.788, rel=1e-2)
    assert found["memory bandwidth"].within((2,)) == 0


@pytest.mark.long
@pytest.mark.parametrize(("machine", "name", "parameters"), KERNELS)
def test_pressures_are_the_limits_of_the_bound(machine, name, parameters):
    """Each pressure, rounded up, is its limit, or at most 200 cycles more for use after the SM's last block.

    Behind the use of a level of memory a limit has the latency of the last load.
    """
    kernel, where = make(name, parameters), load(machine)
    latency = where.global_memory.latency if tagged(where) else 0
    limits = bound(kernel, where).limits
    for resource, pressure in pressures(kernel, where)[1].items():
        assert limits[resource] - latency <= ceil(pressure.cycles) <= limits[resource] + 200
    assert ceil(pressures(kernel, where)[1]["issue slots"].cycles) == limits["issue slots"]


@pytest.mark.jit
@pytest.mark.parametrize(("machine", "name", "parameters"), KERNELS)
def test_pressures_agree_with_the_run(machine, name, parameters):
    """Load/store cycles are those of the run, cycles of pipes are no more than the run's, and issue slots no fewer."""
    kernel, where = make(name, parameters), load(machine)
    run, found = run_sm(kernel, where, feed="trace-driven"), pressures(kernel, where)[1]
    units = [found[unit].parts for unit in UNITS if unit in found]
    if units:
        assert np.array_equal(sum(units), run.load_store_cycles[: len(kernel.program)])
    busy = {unit: cycles for unit, cycles in run.pipe_cycles.items() if cycles and f"pipe {unit}" in found}
    for unit, cycles in busy.items():
        count = Fraction(where.schedulers.count, where.pipe[unit].schedulers)
        assert found[f"pipe {unit}"].cycles * count <= cycles
    ports = where.schedulers.count * where.schedulers.dispatch_ports
    issued = run.issued[: len(kernel.program)] * Fraction(where.schedulers.interval, ports)
    assert all(found["issue slots"].within((pc,)) >= cycles for pc, cycles in enumerate(issued))


def test_parts_of_the_program_add_up():
    """Cycles within two halves of a program add up to those of the whole."""
    program = make("sgemm-lai", {"m": "96", "n": "96", "k": "32"})
    for pressure in pressures(program, load("gtx580"))[1].values():
        halves = range(400), range(400, len(program.program))
        assert sum(pressure.within(pcs) for pcs in halves) == pressure.cycles


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(60))
@given(launches(kernels(most_blocks=3)))
def test_service_and_issues_of_random_kernels_are_those_of_the_run(launched):
    """On any machine each instruction's service by the load/store units, and its issues, are what the run counts.

    If lanes diverge, a guard may hold in a few lanes on each of several paths: the fewest that could hold all count.
    """
    kernel, machine = launched
    run, (profiled, each) = run_sm(kernel, machine, feed="trace-driven"), works(kernel, machine)
    count = len(kernel.program)
    units = sum(added(profiled, unit, each).parts * each for unit in zip(*map(load_store_units, profiled), strict=True))
    parted = bool(reconvergence_points(kernel.program))
    sure = np.array([i.guard == PT or not parted or i.row.unit in MEMORY_UNITS for i in kernel.program.instructions])
    assert np.array_equal(units[sure], run.load_store_cycles[:count][sure])
    assert (units <= run.load_store_cycles[:count]).all()
    assert np.array_equal(sum(work.blocks * work.profile.counts for work in profiled) * each, run.issued[:count])
