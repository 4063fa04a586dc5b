"""SMs that share tags and run ahead, as lines that the L1 lacks come later: the results of SMs that take turns."""

import pytest
from chip_runs import in_turn, unlike
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.launches import REPEATABLE, kernels
from strategies.machine_files import launches_on
from tagged_caches import TAGS
from timing import PORT, plain_machine

from gpusim.engines.chip import store_turns
from gpusim.engines.simulate import run_chip
from gpusim.launch.feed import FEEDS
from gpusim.launch.in_turn import TAGGED
from gpusim.sm.jit.rule import COMPILED
from isa.text.listing import read

THREADS = [1, 2, 3] if COMPILED else [1]
WINDOWS = [1, 7, 100, 4096] if COMPILED else [7, 4096]
CHIP = TAGS | PORT | {"chip.sms": 5, "limits.blocks": 2, "schedulers.count": 2}

# Warps find lines of others on their way, of a small L1 that also loses them.
LOADS = """
.grid {blocks}
.block 128
.buffer x u32 4096 = iota
.buffer y u32 {words}
    S2R R0, CTAID.X
    S2R R1, TID.X
    IMAD R0, R0, 128, R1
    SHL R3, R0, 2
    IADD R3, R3, c[y]
    LOP.AND R2, R0, {mask}
    SHL R2, R2, 4
    IADD R2, R2, c[x]
again:
    LDG{wide} R4, [R2]
    LDG R8, [R2+{step}]
    IADD R9, R9, R4
    IADD R9, R9, R8
    IADD R2, R2, 256
    IADD R10, R10, 1
    ISETP.LT P0, R10, 6
    @P0 BRA again
    STG [R3], R9
    EXIT
"""


@pytest.fixture(autouse=True, scope="module")
def any_stores():
    """Let SMs run ahead however often they store, as most of these small kernels do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_turns, "APART", 0)
        yield


def test_sms_that_store_often_stay_in_stretches(monkeypatch):
    """One of 59 warp instructions stores: on one thread, unless a store for 58 is rare enough; the same either way."""
    kernel, machine = read(LOADS.format(blocks=11, words=11 * 128, mask=3, wide="", step=4)), plain_machine(CHIP)
    found = {}
    for apart in (500, 58):
        monkeypatch.setattr(store_turns, "APART", apart)
        found[apart] = run_chip(kernel, machine)
    assert {apart: run.in_turn for apart, run in found.items()} == {500: TAGGED, 58: ""}
    assert unlike(found[500], found[58]) == []


@pytest.mark.long
@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(120))
@given(
    launches_on(kernels(most_blocks=30, least=4), ["h200"], (2, 3, 6)),
    st.sampled_from(THREADS),
    st.sampled_from(WINDOWS),
    st.sampled_from(FEEDS),
)
def test_random_pairs_give_what_sms_in_turn_give(launched, threads, window, feed):
    """Of random programs on chips like an H200 every sum of every SM, memory and registers are the same."""
    kernel, machine = launched
    run = run_chip(kernel, machine, feed=feed, threads=threads, window=window)
    assert unlike(run, in_turn(kernel, machine, feed=feed)) == []


@pytest.mark.parametrize("feed", FEEDS)
@pytest.mark.parametrize("joined", [0, 3])
@pytest.mark.parametrize("misses", [2, 8, 64])
@pytest.mark.parametrize(("wide", "mask", "step"), [(".128", 255, 4), ("", 63, 0), (".64", 15, 128)])
def test_loads_of_lines_on_their_way(wide, mask, step, misses, joined, feed):
    """Hits on what comes, few MSHRs and lines that must go again give the cycles and counts of SMs in turn."""
    blocks = 40 if COMPILED else 6
    kernel = read(LOADS.format(blocks=blocks, words=128 * blocks, wide=wide, mask=mask, step=step))
    machine = plain_machine(CHIP | {"l1.misses": misses, "l1.joined": joined})
    runs = [run_chip(kernel, machine, feed=feed, threads=threads, window=WINDOWS[-1]) for threads in THREADS]
    expected = in_turn(kernel, machine, feed=feed)
    assert [run.in_turn for run in runs] == [""] * len(THREADS)
    assert [unlike(run, expected) for run in runs] == [[]] * len(THREADS)
