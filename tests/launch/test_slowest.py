"""A launch of one wave ends with its slowest SM: further from the L2 than the mean, with less of its bandwidth."""

import numpy as np
import pytest

from gpusim.engines.simulate import run_chip, run_sm
from gpusim.launch.caches.slowest import distances
from gpusim.machine.machine import load
from gpusim.machine.simulated_sms import WHOLE, mean
from isa.text.listing import read

WARM = {"cache.hits": "tags", "l2.filled": 1, "l2_channel.furthest": 18, "l2_channel.least_share": 900}
H200 = load("h200", WARM)
HEAD = ".grid {}\n.block {}\n.buffer x u32 4194304\nMOV R2, c[x]\nS2R R3, CTAID.X\nS2R R5, TID.X\nSHL R5, R5, 2\n"
CHAIN = (
    "SHL R4, R3, 12\nIADD R2, R2, R4\n"
    + 4 * "LDG R6, [R2]\nLOP.AND R6, R6, 0\nIADD R2, R2, R6\nIADD R2, R2, 128\n"
    + "EXIT"
)
STREAM = "SHL R4, R3, 15\nIADD R2, R2, R4\nIADD R2, R2, R5\n" + "".join(
    f"LDG R{8 + i}, [R2+{4096 * i}]\n" for i in range(8)
)


def later(blocks, threads=32, body=CHAIN):
    """Return by how many cycles a launch ends later than with SMs that are all alike."""
    kernel = read(HEAD.format(blocks, threads) + body)
    return run_sm(kernel, H200).cycles - run_sm(kernel, mean(H200)).cycles


@pytest.mark.parametrize(
    ("blocks", "threads", "each"),
    [
        (1, 32, 0),  # the mean SM
        (132, 32, 18),
        (264, 32, 18),  # two on each SM
        (2, 32, 3),  # 18 log 2 / log 132
        (12, 32, 9),
        (134, 32, 3),  # two SMs have two blocks
        (133, 32, 0),
        (264, 1024, 18),
        (265, 1024, 0),  # one SM is free again for the last block
    ],
)
def test_each_load_of_the_l2_comes_later(blocks, threads, each):
    """Four loads of lines of the L2, each behind the last, by hand."""
    assert later(blocks, threads) == 4 * each


def test_the_dram_is_further_away_too():
    """The same chain of four lines that the L2 has not."""
    cold = load("h200", {**WARM, "l2.filled": 0})
    kernel = read(HEAD.format(132, 32) + CHAIN)
    assert run_sm(kernel, cold).cycles - run_sm(kernel, mean(cold)).cycles == pytest.approx(4 * 18, abs=4)


def test_it_has_less_of_the_bandwidth():
    """Eight lines of each of 64 warps of all SMs, 65 KB: their last part takes a tenth longer."""
    kernel = read(HEAD.format(264, 1024) + STREAM + "EXIT")
    slow, usual = (run_sm(kernel, machine).cycles for machine in (H200, mean(H200)))
    whole = 2 * 1024 * 4 * 8 / (4600 / 132)
    assert slow - usual == pytest.approx(whole * (1 / 0.9 - 1) + 18, rel=0.1)


def test_each_of_all_sms_is_at_its_distance():
    """Four loads of lines of the L2 of each of four SMs, by hand.

    Reversed, 0, 1, 2 and 3 are 0, 2, 1 and 3, so many SMs are nearer. Of exponential distances the one with n SMs
    behind it is at 1 - log n / log 4, and they are 1 / log 4 in the mean: 0, 0.14, less than the mean, and 1.
    """
    four, kernel = load("h200", {**WARM, "chip.sms": 4}), read(HEAD.format(4, 32) + CHAIN)
    far, alike = (run_chip(kernel, machine) for machine in (four, mean(four)))
    later = [
        int(one.ends["cycle"][0] - other.ends["cycle"][0]) for one, other in zip(far.each, alike.each, strict=True)
    ]
    assert later == [4 * cycles for cycles in (0, round(0.1393 * 18), 0, 18)]


@pytest.mark.parametrize(("threads", "body"), [(32, CHAIN), (1024, STREAM + "EXIT")])
def test_all_sms_of_one_wave_end_when_the_slowest_does(threads, body):
    """A launch of one wave takes all SMs as long as the one that stands for them, latencies or bandwidth alike."""
    kernel = read(HEAD.format(264, threads) + body)
    assert run_chip(kernel, H200).cycles == pytest.approx(run_sm(kernel, H200).cycles, rel=0.02)


def test_any_sms_in_a_row_differ_as_all_do():
    """The furthest of the first n SMs is at log n / log N of what the furthest of all is, within a sixth.

    In the mean they are a ninth further away than the mean SM, as who is nearer counts as that.
    """
    found = distances(132)
    for few in (2, 8, 16, 33, 66, 132):
        assert max(found[:few]) == pytest.approx(np.log(few) / np.log(132), abs=1 / 6)
    assert 0 < np.mean(found) < 1 / 9


def test_the_mean_machine_has_no_slowest_sm():
    """Its numbers are those of a machine whose SMs are alike; a machine without channels stays."""
    channel = mean(H200).l2_channel
    assert (channel.furthest, channel.least_share) == (0, WHOLE)
    assert mean(load("gtx580")) == load("gtx580")
