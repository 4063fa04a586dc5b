"""Which SM stands for all: the one with most work, the first of several."""

import pytest
from timing import plain_machine

from benchmarks.tensor import kernels
from gpusim.bounds.bounds import bound
from gpusim.engines import busiest_sm
from gpusim.engines.simulate import run_chip, run_sm
from gpusim.engines.walks.counting.block_counts import counted, counter
from gpusim.launch.feed import foreseeable, recordable
from gpusim.machine.machine import load
from gpusim.simulation.simulation import simulate
from isa.text.listing import read

# Block b goes round a loop 1 + (7 b mod 8) times; what it reaches it stores.
UNEQUAL = """
.grid {blocks}
.buffer x u32 4096
S2R R0, CTAID.X
IMUL R1, R0, 7
LOP.AND R1, R1, 7
MOV R2, 0
again:
IADD R2, R2, 1
ISETP.LE P0, R2, R1
@P0 BRA again
SHL R3, R0, 2
IADD R3, R3, c[x]
STG [R3], R2
EXIT
"""
EQUAL = UNEQUAL.replace("IMUL R1, R0, 7", "MOV R1, 3")


def on(sms):
    """Return a machine with so many SMs and bandwidth to spare."""
    return plain_machine({"chip.sms": sms, "chip.dram_mbs": 10_000_000})


def rounds(block):
    """Return how often a block goes round."""
    return 1 + 7 * block % 8


@pytest.mark.parametrize(("blocks", "sms"), [(8, 8), (8, 4), (7, 5), (11, 4), (8, 16)])
def test_the_sm_with_most_work_stands_for_all(blocks, sms):
    """Of unequal blocks the SM whose loops have most rounds is simulated: the first of these, with all its blocks."""
    kernel, machine = read(UNEQUAL.format(blocks=blocks)), on(sms)
    work = [8 * len(each) + 3 * sum(map(rounds, each)) for each in (range(s, blocks, sms) for s in range(sms))]
    run = run_sm(kernel, machine)
    assert run.first_sm == work.index(max(work))
    assert run.blocks == len(range(run.first_sm, blocks, sms))


def test_it_takes_the_time_of_all():
    """Eight unequal blocks on eight SMs: one stands for all, as slow within 2 %, above its bound."""
    kernel, machine = read(UNEQUAL.format(blocks=8)), on(8)
    found, whole = simulate(kernel, machine), run_chip(kernel, machine).cycles
    assert found.cycles == pytest.approx(whole, rel=0.02)
    assert found.run.first_sm == 1
    assert bound(kernel, machine).cycles <= found.cycles
    assert found.verification.wrong == 0


def test_a_sample_takes_blocks_of_that_sm():
    """Whole waves and the last one of the SM with most work, by their ids."""
    kernel, machine = read(UNEQUAL.format(blocks=80)), on(4)
    run = run_sm(kernel, machine, blocks=10, last=2, trace=True)
    placed = run.trace["block"][run.trace["kind"] == 3]
    assert run.first_sm == 1
    assert sorted(set(run.trace["block"].tolist())) == [*range(1, 33, 4), 73, 77], placed


def test_equal_blocks_take_the_first_sm():
    """Where blocks do the same, the first SM stands for all."""
    assert run_sm(read(EQUAL.format(blocks=8)), on(4)).first_sm == 0


@pytest.mark.parametrize(("most", "counted"), [(10, 1), (25, 2), (60, 4), (10_000, 8)])
def test_beyond_a_limit_few_sms_far_apart_are_counted(most, counted, monkeypatch):
    """SMs are counted in the order 0, 5, 2, 7, 4, 1, 6, 3 until the limit is passed: the busiest so far is taken."""
    monkeypatch.setattr(busiest_sm, "MOST", most)
    work = {sm: 8 + 3 * rounds(sm) for sm in (0, 5, 2, 7, 4, 1, 6, 3)[:counted]}
    found = run_sm(read(UNEQUAL.format(blocks=8)), on(8)).first_sm
    assert found == min(sm for sm in work if work[sm] == max(work.values()))


def test_a_machine_that_refuses_a_kernel_decides_nothing_for_others():
    """Blocks of 1024 threads don't fit a GT200, whose answer is SM 0; on a machine that runs them it is SM 1."""
    kernel = read(UNEQUAL.format(blocks=8).replace(".grid 8", ".grid 8\n.block 1024"))
    eight = {"chip.sms": 8}
    assert [busiest_sm.busiest_sm(kernel, load(name, eight)) for name in ("c1060", "gtx580")] == [0, 1]


def test_products_of_warpgroups_are_counted():
    """A product by a warpgroup is done later than it issues, so not recorded; its path is known without time."""
    launch = kernels.wanted("wg128_cp3", "solo", 64)[0]
    kernel = kernels.kernel(launch)
    assert foreseeable(kernel)
    assert not recordable(kernel)
    found = counted(counter(kernel, threads=True), [0], 1_000_000)
    assert found.work[0] == run_sm(kernel, load("h200")).warp_instructions
