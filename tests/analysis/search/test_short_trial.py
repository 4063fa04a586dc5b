"""Short trials: the time of a launch from the first part of its run."""

from dataclasses import replace

import pytest

from gpusim.analysis.search.code.short_trial import predicted, work_of_sm
from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from isa.nvidia.abi.on_chip import on_chip
from isa.text.listing import read
from workloads.catalog import make

UNEVEN = ".grid 64\n.block 32\nS2R R0, CTAID.X\nloop:\nIADD R0, R0, -1\nISETP.GE P0, R0, 0\n@P0 BRA loop\nEXIT"


def test_work_is_that_of_the_sm():
    """Of alike blocks it is exact; of blocks that grow evenly it is within 2 %, though 8 of 64 are counted."""
    where = load("gtx580")
    kernel = on_chip(make("sgemm-lai", {"m": "192", "n": "192", "k": "64"}), where.chip.sms)
    assert work_of_sm(kernel, where) == run_sm(kernel, where).warp_instructions
    one_sm = load("gtx580", {"chip.sms": 1})
    growing = on_chip(read(UNEVEN), 1)
    assert work_of_sm(growing, one_sm) == pytest.approx(run_sm(growing, one_sm).warp_instructions, rel=0.02)


def test_a_short_trial_predicts_the_run():
    """An eighth of a product's instructions predicts its cycles within 5 %; all of them are the run's."""
    where = load("gtx580", {"chip.sms": 1})
    kernel = make("sgemm-lai", {"m": "192", "n": "192", "k": "192"})
    whole = run_sm(on_chip(kernel, 1), where)
    assert predicted(kernel, where, whole.warp_instructions // 8) == pytest.approx(whole.cycles, rel=0.05)
    assert predicted(kernel, where, 10 * whole.warp_instructions) == whole.cycles


def test_what_one_sm_can_not_show_has_none():
    """A launch with clusters has no short trial."""
    assert predicted(replace(read(UNEVEN), cluster=(2, 1, 1)), load("h200"), 100) is None
