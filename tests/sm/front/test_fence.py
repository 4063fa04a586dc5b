"""Fences for the chip and the system: what they wait for, and how long they take."""

import pytest
from timing import cycles_of

from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.machine.machine import load
from gpusim.sm.account.record.declaration import SERVE
from gpusim.sm.unit.stall import Stall
from isa.text.listing import read

NUMBERS = {"fence.gpu": 100, "fence.system": 500, "fence.loads": 30, "fence.stores": 200, "launch.warp_skew": 0}
HEAD = ".block 32\n.buffer x u32 32\nMOV R1, c[x]\n"


def ran(body, engine="compiled", **numbers):
    """Return the run of a listing's lines behind one that loads an address into R1."""
    return run_sm(read(HEAD + body), load("h200", NUMBERS | numbers), engine=engine, trace=True)


def issued(run):
    """Return when each instruction of the only warp issued."""
    return {pc: cycle for cycle, _, pc in cycles_of(run)}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("scope", "cycles"), [("SC.GPU", 100), ("ALL.GPU", 100), ("ALL.SYS", 500)])
def test_a_fence_holds_its_warp(engine, scope, cycles):
    """Where nothing was accessed an exit comes as many cycles behind the fence as the machine says."""
    run = ran(f"MEMBAR.{scope}\nEXIT", engine)
    at = issued(run)
    assert at[2] - at[1] == cycles
    assert run.stalls[2, Stall.BARRIER] >= cycles - 10


def test_a_fence_of_a_block_takes_no_time():
    """It is an instruction that does nothing."""
    at = issued(ran("MEMBAR.SC.CTA\nEXIT"))
    assert at[2] - at[1] < 10


def test_arithmetic_goes_on_behind_a_fence():
    """A move does not wait for it, the exit does."""
    at = issued(ran("MEMBAR.SC.GPU\nMOV R2, 1\nEXIT"))
    assert at[2] - at[1] < 10
    assert at[3] - at[1] == 100


def test_a_fence_waits_for_loads_and_takes_longer_behind_them():
    """It issues when the load is back, as a drain, and takes the cycles of loads more; the next fence doesn't."""
    run = ran("LDG R2, [R1]\nMEMBAR.SC.GPU\nMEMBAR.SC.GPU\nEXIT")
    at = issued(run)
    assert at[2] - at[1] > 250
    assert run.stalls[2, Stall.DRAIN] > 250
    assert (at[3] - at[2], at[4] - at[3]) == (130, 100)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_fence_waits_until_stores_are_performed(engine):
    """It is over 200 cycles behind the time at which the store's only sector has left: a cycle after its service."""
    run = ran("STG [R1], R1\nMEMBAR.SC.GPU\nEXIT", engine)
    at = issued(run)
    (served,) = (int(r.cycle) for r in run.trace if r.kind == SERVE and r.pc == 1)
    assert at[2] < at[1] + 20
    assert at[3] == served + 1 + 200


def test_a_fence_long_after_stores_waits_for_none():
    """A store that was performed before holds up no fence."""
    at = issued(ran("STG [R1], R1\nMEMBAR.SC.GPU\nMEMBAR.SC.GPU\nEXIT"))
    assert at[4] - at[3] == 100
