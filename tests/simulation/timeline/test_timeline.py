"""The timeline document: exact waits, lost slots and blockers."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from read.worked import timeline_of
from strategies.launches import REPEATABLE, kernels, launches, looping_kernels
from timing import plain_machine

from gpusim.engines.simulate import run_chip, run_sm
from gpusim.engines.sm_run import SmRun
from gpusim.launch.file.prepare import prepared
from gpusim.machine.machine import load
from gpusim.simulation.timeline.build import timeline
from gpusim.sm.jit.rule import COMPILED
from gpusim.sm.unit.stall import Stall, label
from gpusim.views.timeline.document import NONE, Timeline
from gpusim.views.timeline.file import part
from isa.errors import DeadlockError, UserError
from isa.text.listing import read
from workloads.catalog import make

RACING_KERNELS = st.booleans().flatmap(lambda barriers: kernels(barriers, most_blocks=3, least=4))


def waited(document: Timeline) -> Counter[tuple[int, str]]:
    """Return by pc and reason the cycles in which a document's instructions wait, issue, or have exited."""
    found: Counter[tuple[int, str]] = Counter()
    turns = set()
    last = {}
    for one in document.instructions:
        found.update({(one.pc, wait.reason): 0 for wait in one.waits})
        for wait in one.waits:
            found[one.pc, wait.reason] += wait.end - wait.start
        if (one.warp, one.issue) not in turns:
            found[one.pc, "selected"] += document.interval
        turns.add((one.warp, one.issue))
        last[one.block, one.warp] = one
    for block in document.blocks:
        for warp in block.warps:
            one = last[block.id, warp]
            found[one.pc, "warp_exited"] += block.retired - one.issue - document.interval
    return +found


def stalled(run: SmRun) -> Counter[tuple[int, str]]:
    """Return the same cycles as the rules charge them."""
    pcs, reasons = run.stalls.nonzero()
    return Counter({(int(pc), label(int(r))): int(run.stalls[pc, r]) for pc, r in zip(pcs, reasons, strict=True)})


def lost(document: Timeline) -> Counter[tuple[int, str]]:
    """Return by scheduler and reason the cycles of a document's lost slots."""
    found: Counter[tuple[int, str]] = Counter()
    for one in document.lost:
        found[one.scheduler, one.reason] += one.end - one.start
    return found


def charged(run: SmRun) -> Counter[tuple[int, str]]:
    """Return the same cycles as the rules charge them."""
    ks, reasons = run.lost.nonzero()
    return Counter({(int(k), label(int(r))): int(run.lost[k, r]) for k, r in zip(ks, reasons, strict=True)})


def check(kernel, machine) -> Timeline:
    """Assert that a document's sums are those of the run, and that its waits have neither gap nor overlap."""
    document, run = timeline(kernel, machine), run_sm(kernel, machine, feed="trace-driven")
    assert document.cycles == document.end == run.cycles
    assert waited(document) == stalled(run)
    assert lost(document) == charged(run)
    for one in document.instructions:
        spans = [(wait.start, wait.end) for wait in one.waits]
        assert all(begin < end for begin, end in spans)
        assert [end for _, end in spans[:-1]] == [begin for begin, _ in spans[1:]]
        assert not spans or spans[-1][1] == one.issue
        assert all(wait.blocker < one.id for wait in one.waits)
    return document


@settings(REPEATABLE, max_examples=draws(80 if COMPILED else 2))
@given(launches(RACING_KERNELS))
def test_waits_and_lost_slots_are_those_of_the_run(launched):
    """By pc and reason, and by scheduler and reason, they add up to what the rules have charged, on random pairs."""
    check(*launched)


def test_an_instruction_has_the_cycles_in_which_it_occupies_a_unit():
    """The unit serves the second load, of 4 passes, after the first, of 2; a pipe takes the addition at its issue."""
    text = """
    .shared 512
        S2R R0, LANEID
        SHL R1, R0, 3
        SHL R2, R0, 4
        LDS R3, [R1]
        LDS R4, [R2]
        @P0 FADD R5, R6, R7
        FADD R5, R6, R7
        EXIT
    """
    changes = {"shared_memory.pass_cycles": 4, "shared_memory.latency_32": 26, "unit.fp32.latency": 18}
    found = {one.pc: one for one in timeline(read(text), plain_machine(changes)).instructions}
    start = found[3].issue
    assert (found[3].begin, found[3].end, found[3].done) == (start, start + 8, start + 26 + 4)
    assert (found[4].issue, found[4].begin, found[4].end) == (start + 6, start + 8, start + 24)
    assert [found[pc].conflicts for pc in (3, 4, 6)] == [1, 3, 0]
    assert (found[5].lanes, found[5].begin, found[5].end, found[5].done) == (0, NONE, NONE, NONE)
    assert (found[6].lanes, found[6].begin, found[6].done) == (32, found[6].issue, found[6].issue + 18)


@pytest.mark.long
@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(30))
@given(launches(looping_kernels(), tags=False), st.integers(0, 3000), st.integers(1, 500), st.integers(1, 3))
def test_a_window_is_a_part_of_the_whole(launched, start, length, step):
    """Of some cycles and warps the document has what the whole has of them, the total and the numbers included."""
    whole = timeline(*launched)
    start = min(start, whole.cycles - 1)
    end, warps = min(start + length, whole.cycles), range(0, whole.warp_slots, step)
    expected = part(whole, start, end, warps)
    document = timeline(*launched, start=start, end=start + length, warps=warps)
    assert (document.start, document.end, document.cycles) == (start, end, whole.cycles)
    assert (document.instructions, document.lost) == (expected.instructions, expected.lost)
    assert [(one.id, one.placed) for one in document.blocks] == [(one.id, one.placed) for one in expected.blocks]


@pytest.mark.jit
def test_a_window_of_a_long_run_stops_soon():
    """The first 50 cycles of a run of over 100,000 need few of its records, and its total of cycles is right."""
    kernel, reported = make("throughput", {"iterations": "1000", "length": "64"}), []
    document = timeline(kernel, load("gtx580"), end=50, progress=lambda done, _: reported.append(done))
    assert document.cycles == run_sm(kernel, load("gtx580"), feed="trace-driven").cycles > 100_000
    assert len(document.instructions) < 100
    assert reported.count(0) == 0 or len(reported) < 10


@pytest.mark.long
@pytest.mark.jit
def test_a_window_at_the_end_keeps_nothing_from_before():
    """The last 100 cycles of a run of 45,000 take no more memory than those of one of 23,000; whole runs do."""
    short, long = (make("throughput", {"iterations": iterations, "length": "64"}) for iterations in ("20", "40"))
    assert peak(long, 100) < 1.02 * peak(short, 100)
    assert peak(long, 45_000) > 1.05 * peak(short, 45_000)


def peak(kernel, last: int) -> int:
    """Return the most bytes that Python holds while a timeline of the last cycles is made."""
    gtx580 = load("gtx580")
    cycles = run_sm(kernel, gtx580, feed="trace-driven").cycles
    tracemalloc.start()
    timeline(kernel, gtx580, start=max(0, cycles - last))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def test_a_window_of_a_deadlocked_kernel_is_shown():
    """The first 5 cycles of a deadlocked kernel are shown, without a total; all its cycles are refused."""
    kernel = read(".block 64\nS2R R0, WARPID\nISETP.EQ P0, R0, 0\n@P0 BAR.SYNC 0, 64\nEXIT")
    document = timeline(kernel, plain_machine(), end=5)
    assert (document.cycles, document.end) == (NONE, 5)
    assert {one.pc for one in document.instructions} >= {0, 1}
    with pytest.raises(DeadlockError):
        timeline(kernel, plain_machine())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"warps": [0, 7]}, "--warps 7: the launch fills warp slots 0 to 1 of an SM"),
        ({"start": -1}, "--cycles -1:"),
        ({"start": 9, "end": 9}, "--cycles 9:9:"),
        ({"start": 99}, "--cycles 99: the run ends at cycle 4"),
    ],
)
def test_missing_warps_and_cycles_are_refused(options, message):
    """A missing warp slot or cycle is refused in one line with those that the run has."""
    with pytest.raises(UserError, match=f"^{message}"):
        timeline(read(".block 64\nEXIT"), plain_machine(), **options)


def test_every_letter_stands_for_one_thing():
    """Each stall reason, and each state of an instruction that has issued, has a letter of its own."""
    document = timeline_of("wait")
    assert [one.letter for one in document.letters][: len(Stall)] == [reason.letter for reason in Stall]
    assert len({one.letter for one in document.letters}) == len(document.letters) == len(Stall) + 4


@pytest.mark.jit
def test_an_instruction_has_its_region():
    """An instruction has its innermost marked region, or else its loop; an instruction outside of both has none."""
    text = "// GPUSIM-BEGIN all\nMOV R0, 1\n// GPUSIM-BEGIN one\nMOV R1, R0\n// GPUSIM-END\nNOP\n// GPUSIM-END\nEXIT"
    found = timeline(read(text), plain_machine())
    assert [line.region for line in found.program] == ["all", "one", "all", "", ""]
    looped = timeline(make("mix"), load("gtx580"), end=1).program
    assert {line.region for line in looped} == {"", "loop"}


@pytest.mark.jit
def test_of_a_cluster_the_first_sm_is_shown():
    """Four SMs have a block of each cluster; the document has those of the first, and the cycles of the run.

    Who waits behind a fence waits for the fence, not for the block's barrier before it.
    """
    kernel = prepared("examples/tensor/cluster.cubin")
    run = run_chip(kernel, load("h200"), sms=4)
    document = timeline(kernel, load("h200"))
    assert document.cycles == run.cycles
    assert {one.block for one in document.instructions} == {one.id for one in document.blocks} == {0}
    assert sum(one.pc == 0 for one in document.instructions) == kernel.warps == run.issued[0] // 4
    texts = {one.id: document.program[one.pc].text for one in document.instructions}
    fences = {line.pc for line in document.program if line.text.startswith("MEMBAR")}
    behind = [one for one in document.instructions if one.pc - 1 in fences]
    assert len(behind) == 2 * kernel.warps
    assert {texts[one.waits[-1].blocker].partition(".")[0] for one in behind} == {"MEMBAR"}


@pytest.mark.jit
def test_loads_that_never_execute_are_served():
    """Before its first copy attention has three @!PT LDS, which no lane executes, and the load/store unit serves."""
    document = timeline(prepared("examples/tensor/flash.cubin"), load("h200"), end=600)
    idle = [one for one in document.instructions if document.program[one.pc].text.startswith("@!PT LDS")]
    assert len(idle) >= 3
    assert {one.lanes for one in idle} == {0}
    assert all(one.issue <= one.begin < one.end for one in idle)
