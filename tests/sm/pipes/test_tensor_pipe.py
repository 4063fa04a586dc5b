"""The pipe of matrix instructions: how long each kind keeps it, when its result is there, and who waits."""

import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from matrix_exact import QUADS
from scan.every_cycle import scan
from strategies.launches import REPEATABLE, machines
from strategies.machine_code import kernels
from timing import cycles_of, stalled
from twins import mistakes

from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.launch.feed import ADDRESS_ONLY
from gpusim.machine.machine import load
from gpusim.machine.occupancy import occupancy
from gpusim.sm.unit.stall import Stall
from isa.errors import UserError
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.nvidia.lowering.lower import lowered
from isa.nvidia.rows.tensor.matrix import FAMILIES
from isa.program import Program
from isa.table import machine_row

MEASURED = {  # cycles of the pipe and of a chain, on an H200, 2026-11-22
    "HMMA.16816.F32": (6, 24),
    "HMMA.16816.F16": (6, 24),
    "HMMA.16816.F32.BF16": (6, 24),
    "HMMA.1688.F32.TF32": (6, 24),
    "HMMA.1688.F32": (4, 16),
    "HMMA.1684.F32.TF32": (4, 16),
    "IMMA.16832.S8.S8": (6, 24),
    "IMMA.16816.U8.S8": (4, 16),
    "BMMA.168256.AND.POPC": (6, 24),
    "DMMA.8x8x4": (16, 26),
    "DMMA.16x8x4": (16, 34),
    "DMMA.16x8x8": (32, 50),
    "DMMA.16x8x16": (64, 82),
}


def launch(*texts, warps=1):
    """Return a launch of one block of these instructions."""
    code = [Instruction(form.row, form.operands, form.guard) for form in map(lowered, (*texts, "EXIT"))]
    return Kernel("matrices", Program(tuple(code)), (1, 1, 1), (32 * warps, 1, 1))


def issues(run, slot=0):
    """Return the cycles of a warp's issues behind its first one."""
    first, *others = (cycle for cycle, warp, _ in cycles_of(run) if warp == slot)
    return [cycle - first for cycle in others]


def run(kernel, machine="wide", changes=None, engine="compiled"):
    """Return a run with its trace."""
    return run_sm(kernel, load(machine, changes or {}), engine=engine, trace=True)


@pytest.mark.every
@pytest.mark.parametrize("name", MEASURED)
def test_times_of_a_kind_are_those_measured(name):
    """Independent ones of one warp issue an interval apart; each of a chain waits for the one before."""
    row, (interval, latency) = machine_row(name), MEASURED[name]
    machine = load("h200")
    assert (machine.matrix[row.matrix].interval, machine.matrix[row.matrix].latency) == (interval, latency)
    changes = {f"matrix.{row.matrix}.interval": interval, f"matrix.{row.matrix}.latency": latency, "pipe.sp.lanes": 32}
    apart = launch(*(f"{name} R{16 * i}, R64, R96, RZ" for i in range(3)))
    assert issues(run(apart, changes=changes)) == [interval, 2 * interval, 2 * interval + 1]
    chain = launch(*[f"{name} R16, R64, R96, R16"] * 3)
    assert issues(run(chain, changes=changes))[:2] == [max(interval, latency), 2 * max(interval, latency)]


@pytest.mark.parametrize("engine", ENGINES)
def test_two_kinds_take_turns_in_the_pipe(engine):
    """On an H200 a pipe takes IMMA.16816 7 cycles behind HMMA.1688, whose result is of no use to it, DMMA 4 later.

    IMMA takes 3 cycles less through the pipe, and leaves it behind HMMA.
    """
    texts = (
        "HMMA.1688.F32 R16, R64, R96, RZ",
        "IMMA.16816.S8.S8 R32, R64.ROW, R96.COL, RZ",
        "DMMA.8x8x4 R8, R64, R96, RZ",
    )
    alone = run(launch(*texts), "h200", engine=engine)
    assert issues(alone)[:2] == [7, 11]
    assert stalled(alone, Stall.MATH_PIPE_THROTTLE) == 6 + 3
    assert alone.pipe_cycles["tensor"] == 4 + 4 + 16


def test_each_sub_partition_has_a_pipe_of_its_own():
    """Four warps on four schedulers of an H200 do not wait for each other, eight do: their pipes take twice as long."""
    text = [f"HMMA.16816.F32 R{16 * i}, R64, R96, RZ" for i in range(4)]
    one, four, eight = (run(launch(*text, warps=warps), "h200").cycles for warps in (1, 4, 8))
    assert four - one < 12
    assert eight - four == pytest.approx(4 * 6, abs=8)


def test_a_kind_that_a_machine_lacks_is_refused():
    """Its file has no section for it, and a machine without tensor cores no pipe."""
    kernel = launch("DMMA.16x8x16 R0, R16, R32, R0")
    with pytest.raises(UserError, match=r"a100 has no DMMA\.16x8x16: its file has no \[matrix\.f64_16x128\]"):
        run(kernel, "a100")
    with pytest.raises(UserError, match=r"gtx580 has no DMMA\.16x8x16: its file gives unit class tensor no pipe"):
        run(kernel, "gtx580")


NAMES = [family.base for family in FAMILIES if not family.base.startswith(QUADS)]
ROWS = [machine_row(one) for one in (*NAMES, "IADD3", "FFMA", "MUFU.RCP", "DADD")]


@settings(REPEATABLE, max_examples=draws(60))
@given(kernels(st.sampled_from(ROWS)), machines(tags=False))
def test_every_cycle_is_that_of_the_scan(kernel, machine):
    """Among other instructions, on random machines: the same issues and stalls as a look at each cycle finds.

    Without values: no time of these depends on one, and each kind of product would be compiled.
    """
    engines = run_sm(kernel, machine, feed=ADDRESS_ONLY, trace=True)
    resident = min(occupancy(kernel, machine).blocks, kernel.blocks)
    assert set(mistakes(engines, scan(kernel, machine, resident))) <= {"registers"}


VALUED = [machine_row(one) for one in ("HMMA.16816.F32", "IMMA.16832.S8.S8", "DMMA.8x8x4", "IADD3", "FFMA")]


@settings(REPEATABLE, max_examples=draws(30))
@given(kernels(st.sampled_from(VALUED)), machines(tags=False))
def test_registers_are_those_of_the_scan_too(kernel, machine):
    """Of a kind of each sum of products, with values: registers and memory as well as cycles are those of the scan."""
    resident = min(occupancy(kernel, machine).blocks, kernel.blocks)
    assert mistakes(run_sm(kernel, machine, trace=True), scan(kernel, machine, resident)) == []
