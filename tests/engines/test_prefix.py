"""The first part of a run: how far it is by when, in both engines."""

from dataclasses import replace

import numpy as np
import pytest

from gpusim.engines.prefix import LOOK, PART, Prefix, run_prefix
from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.machine.machine import load
from gpusim.sm.account.record.declaration import ISSUE
from isa.errors import DeadlockError, UserError
from isa.text.listing import read
from workloads.catalog import make

SGEMM = {"m": "96", "n": "96", "k": "32"}
STUCK = ".block 64\nS2R R0, WARPID\nISETP.EQ P0, R0, 0\n@P0 BRA out\nBAR.SYNC 3\nout:\nEXIT"


def issued_by(run, cycle):
    """Return how many warp instructions a traced run has issued before a cycle."""
    issues = run.trace[run.trace.kind == ISSUE]
    return int(np.count_nonzero(issues.cycle < cycle))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("machine", ["gtx580", "v100"])
def test_a_prefix_is_the_beginning_of_the_run(engine, machine):
    """By a prefix' last cycle, and early in it, the whole run has issued as many; it ends at the first such look."""
    kernel, where = make("sgemm-lai", SGEMM), load(machine)
    whole = run_sm(kernel, where, trace=True)
    for wanted in (1, whole.warp_instructions // 3):
        found = run_prefix(kernel, where, wanted, engine=engine)
        assert not found.ended
        assert issued_by(whole, found.cycles) == found.issued >= wanted
        assert issued_by(whole, found.cycles - max(LOOK, found.cycles // PART)) < wanted
        cycles, issued = found.early
        assert issued_by(whole, cycles) == issued <= found.issued / 8


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_that_ends_before_its_limit_has_ended(engine):
    """More instructions than there are give the cycles and instructions of the whole run, which has ended."""
    kernel, where = make("sgemm-lai", SGEMM), load("gtx580")
    whole = run_sm(kernel, where)
    found = run_prefix(kernel, where, 10**9, engine=engine)
    assert (found.ended, found.cycles, found.issued) == (True, whole.cycles, whole.warp_instructions)


def test_the_rate_leaves_the_begin_out():
    """20 instructions in the first 600 cycles and 180 in the next 360 are two cycles for an instruction."""
    assert Prefix(cycles=960, issued=200, early=(600, 20), ended=False).rate == 2


def test_the_part_of_a_longer_run_is_brought():
    """With the whole share of its buffers the SM waits as the run does, with a part less; the engines do the same."""
    kernel, where = make("sgemm-lai", {"m": "1920", "n": "1920", "k": "96"}), load("rtx3090")
    plain, whole, part = (run_prefix(kernel, where, 3000, of=of) for of in (None, 3000, 10**9))
    assert whole == plain
    assert part.cycles / part.issued < plain.cycles / plain.issued
    assert run_prefix(kernel, where, 3000, of=10**9, engine="reference") == part


def test_what_one_sm_can_not_show_has_no_prefix():
    """Clusters are refused, a deadlock is an error, an unknown engine, too."""
    kernel, where = make("sgemm-lai", SGEMM), load("gtx580")
    with pytest.raises(UserError, match="one SM alone can't show them"):
        run_prefix(replace(kernel, cluster=(2, 1, 1)), where, 100)
    with pytest.raises(UserError, match="--engine fast: there is no such engine"):
        run_prefix(kernel, where, 100, engine="fast")
    with pytest.raises(DeadlockError, match=r"barrier 3 has 1 of 2 warps"):
        run_prefix(read(STUCK), where, 100)
