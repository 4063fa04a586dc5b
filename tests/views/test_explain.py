"""Why a warp did not issue: the chain back to the cause."""

from __future__ import annotations

import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from machine_code import saxpy
from msgspec.structs import replace
from read.worked import timeline_of
from strategies.launches import REPEATABLE
from strategies.timeline_documents import by_hand, timelines
from timing import plain_machine

from gpusim.machine.machine import load
from gpusim.simulation.timeline.build import timeline
from gpusim.views.explain import LATE, TAKEN, explain, needed
from gpusim.views.timeline.document import NONE, Copy, Issued, Line, Lost, Phase, Timeline, Wait, Waiting
from gpusim.views.timeline.source import with_source
from isa.errors import UserError
from isa.text.listing import read
from workloads.catalog import make

CONFLICT = """
.block 64
.shared 4096
    S2R R0, TID.X
    SHL R1, R0, 4
    LDS R2, [R1]
    LDS R3, [R1]
    FADD R4, R3, R3
    EXIT
"""
SHARED = """
.shared 4
.buffer a f32 32
[B------:R-:W-:-:S06] MOV R8, c[a]
[B------:R-:W0:-:S01] LDG R1, [R8]
[B------:R-:W0:-:S01] LDS R2, [RZ]
[B0-----:R-:W-:-:S04] FADD R3, R2, R2
[B------:R-:W-:-:S01] EXIT
"""
FAST = {
    "unit.special.latency": 6,
    "unit.shift.latency": 6,
    "shared_memory.pass_cycles": 4,
    "schedulers.issue_interval": 2,
}


def chain_of(document: Timeline, warp: int, cycle: int) -> list[tuple[int, int, int, str]]:
    """Return cycle, warp, pc and what of each step."""
    return [(step.cycle, step.warp, step.pc, step.what) for step in explain(document, warp, cycle, 99)]


def test_the_chain_of_a_reader_goes_back_to_the_first_instruction():
    """At 60 the addition waits for the load of 36, which waited for the shift of 18, which waited for S2R, at 0."""
    document = timeline_of("instruction_replay")
    assert chain_of(document, 0, 60) == [
        (60, 0, 3, "short_scoreboard"),
        (60, 0, 2, "under_way"),
        (35, 0, 2, "wait"),
        (35, 0, 1, "under_way"),
        (17, 0, 1, "wait"),
        (17, 0, 0, "under_way"),
    ]
    last = explain(document, 0, 60, 99)[-1]
    assert last.words == "issued at 0 without having waited, occupies its pipe from 0 to 2, done at 18"


def test_a_wait_names_the_result():
    """Of a reason with many kinds of producers, the words name this one, on a V100 LDS, LDG, S2R, MUFU."""
    document = timeline(read(SHARED), load("v100"))
    assert explain(document, 0, 26, 1)[0].words == "waits for a load from shared memory"
    assert explain(document, 0, 27, 1)[0].words.startswith("waits for a load from global memory; it does not need")
    document = timeline(read("S2R R0, TID.X\nIADD R1, R0, 1\nMUFU.RCP R2, R1\nFADD R3, R2, R2\nEXIT\n"), load("v100"))
    adds = [next(one for one in document.instructions if one.pc == pc) for pc in (1, 3)]
    words = [explain(document, 0, add.issue - 1, 1)[0].words for add in adds]
    assert words == ["waits for a read of a special register", "waits for a result of MUFU"]


def test_a_wait_for_a_shared_barrier_names_the_unneeded_load():
    """The FADD needs the LDS, done at 27, but waits for the LDG, done at 445: they share a barrier.

    On a V100 the LDS takes 19 cycles, and is served a cycle late, as the LDG keeps the scheduler's port for two.
    """
    document = timeline(read(SHARED), load("v100"))
    load_far, load_near, add = (next(one for one in document.instructions if one.pc == pc) for pc in (1, 2, 3))
    assert (load_near.issue, load_near.done, load_far.done, add.issue) == (7, 27, 445, 445)
    near, far = explain(document, 0, 26, 1)[0], explain(document, 0, 27, 1)[0]
    assert [(near.what, near.end), (far.what, far.end)] == [("short_scoreboard", 27), ("long_scoreboard", 445)]
    assert "barrier" not in near.words
    message = "it does not need this, but waits for barrier 0, which `LDG R1, [R8]` at pc 1 holds with `LDS R2, [0x0]`"
    assert message in far.words
    assert [wait.blocker for wait in add.waits if "scoreboard" in wait.reason] == [load_near.id, load_far.id]


@pytest.mark.parametrize(("reader", "blamed"), [("R1", 1), ("R2", 2)])
def test_a_reader_names_the_needed_one_of_two_results_on_a_barrier(reader, blamed):
    """A reciprocal issued at 6 and a load at 7 are done at 26, on one barrier: each reader names its own."""
    text = SHARED.replace("LDG R1, [R8]", "MUFU.RCP R1, R8").replace("FADD R3, R2, R2", f"FADD R3, {reader}, {reader}")
    document = timeline(read(text), load("v100", {"unit.sfu.latency": 20}))
    first, second, add = (next(one for one in document.instructions if one.pc == pc) for pc in (1, 2, 3))
    assert first.done == second.done == add.issue == 26
    assert add.waits[-1].blocker == {1: first.id, 2: second.id}[blamed]


def test_a_conflict_is_named_where_it_delays():
    """A load replayed for its bank conflicts delays the other warp: the cause names its 3 extra passes."""
    steps = explain(timeline_of("instruction_replay"), 1, 40, 99)
    assert [(step.what, step.pc) for step in steps[:2]] == [("instruction_replay", 2), ("occupies", 2)]
    assert "3 passes more than its width needs: bank conflicts" in steps[1].words


def test_a_queued_load_waits_for_the_one_that_is_served():
    """A warp waits for a load in the queue, while the unit serves an earlier load with bank conflicts."""
    document = timeline(read(CONFLICT), plain_machine(FAST))
    queued = next(one for one in document.instructions if one.begin > one.issue + 4)
    cycle = queued.begin - 1
    steps = explain(document, queued.warp, cycle, 3)
    assert [step.what for step in steps] == ["short_scoreboard", "queued", "occupies"]
    (server,) = (one for one in document.instructions if one.id == steps[2].id)
    assert server.end == queued.begin
    assert "bank conflicts" in steps[2].words


def test_a_queued_special_register_read_waits_too():
    """On the H200 S2R uses the load/store unit: one in the queue waits for another that the unit serves."""
    document = timeline(read(".block 256\nS2R R0, TID.X\nS2R R1, TID.X\nIADD R2, R0, R1\nEXIT"), load("h200"))
    queued = next(one for one in document.instructions if one.begin > one.issue + 1)
    steps = explain(document, queued.warp, queued.begin - 1, 3)
    assert [step.what for step in steps[1:]] == ["queued", "occupies"]
    assert all("the load/store unit" in step.words for step in steps[1:])


def test_the_late_warp_at_a_barrier_is_explained_in_the_same_cycle():
    """At 200 warp 0 waits at a barrier for warp 1, which waits for its own load."""
    text = """
    .block 64
    .shared 128
        S2R R0, WARPID
        ISETP.EQ P0, R0, 1
        @P0 LDS R1, [RZ]
        @P0 FADD R2, R1, R1
        BAR.SYNC 0
        EXIT
    """
    document = timeline(read(text), plain_machine({"shared_memory.latency_32": 400}))
    steps = [(warp, pc, what) for _, warp, pc, what in chain_of(document, 0, 200)]
    assert steps[:3] == [(0, 5, "barrier"), (1, 3, "short_scoreboard"), (1, 2, "under_way")]
    assert needed(document, 0, 200) > 400


def test_the_selected_warp_ends_the_chain():
    """At 0 warp 1 is eligible and not selected; the chain ends with warp 0's instruction, which issues."""
    assert chain_of(timeline_of("not_selected"), 1, 0) == [(0, 1, 0, "not_selected"), (0, 0, 0, "occupies")]


def test_a_slot_that_a_refused_access_wastes_is_explained_by_that_access():
    """At 4 warp 3 loses its slot to warp 2's load, which finds the queue full with warp 1's."""
    one_place = {"load_store.queue": 1, "issue.refused_wastes_slot": 1}
    document = timeline(read(".block 128\n.shared 16\nLDS.128 R4, [RZ]\nEXIT"), plain_machine(one_place))
    assert chain_of(document, 3, 4)[:3] == [
        (4, 3, 0, "not_selected"),
        (4, 2, 0, "mio_throttle"),
        (4, 1, 0, "queued"),
    ]
    assert explain(document, 3, 4, 1)[0].words.endswith("whose access finds its queue full and wastes the slot")


def test_a_slot_lost_otherwise_is_not_called_wasted():
    """A slot lost to warp 0's wait ends the chain of warp 1; one lost to mio_throttle leads on to warp 0."""
    waits = Wait("wait", 0, 5), Wait("not_selected", 0, 6)
    first, second = (Issued(w, w, 0, 0, 0, 5 + w, NONE, NONE, NONE, 32, (waits[w],)) for w in (0, 1))
    document = replace(by_hand([Line(0, "EXIT", "exit")], [first, second], 9), shown=(0, 1))
    lost = Lost(0, "wait", 0, 5, ended_by=0)
    assert chain_of(replace(document, lost=(lost,)), 1, 3) == [(3, 1, 0, "not_selected")]
    refused = replace(document, lost=(replace(lost, reason="mio_throttle"),))
    assert [step[3] for step in chain_of(refused, 1, 3)] == ["not_selected", "wait"]


def test_every_warp_that_is_not_selected_names_the_slots_user():
    """Wide loads on Fermi: an instruction issues in each such slot, or a refused access wastes it; both occur."""
    text = ".block 256\n.shared 16\n" + 3 * "LDS.128 R4, [RZ]\nFFMA R8, R8, R8, R8\n" + "EXIT"
    document = timeline(read(text), load("gtx580", {"schedulers.policy": "lrr"}))
    left = [(one.warp, wait) for one in document.instructions for wait in one.waits if wait.reason == "not_selected"]
    cycles = [(warp, cycle) for warp, wait in left for cycle in range(wait.start, wait.end)]
    seconds = [explain(document, warp, cycle, 2)[1:] for warp, cycle in cycles]
    assert all(seconds)
    assert {step.what == "mio_throttle" for (step,) in seconds} == {True, False}


def test_a_warp_that_issues_or_has_exited_is_reported_so():
    """At 0 warp 0 issues; at 14 it has exited, after its last issue and until its block leaves at 22."""
    document = timeline_of("two_schedulers")
    assert chain_of(document, 0, 0) == [(0, 0, 0, "selected")]
    assert chain_of(document, 0, 14) == [(14, 0, -1, "warp_exited")]
    (exited,) = explain(document, 0, 14, 9)
    leaves = max(one.issue for one in document.instructions if one.warp == 0) + document.interval
    assert (exited.start, exited.end) == (leaves, document.blocks[0].retired)
    assert chain_of(timeline_of("no_warp"), 1, 6) == [(6, 1, -1, "no_warp")]


@pytest.mark.parametrize(
    ("warp", "cycle", "chain_of"), [(2, 0, "warp 2: the run has warp slots 0"), (0, 99, "cycle 99:")]
)
def test_a_missing_warp_or_cycle_is_refused(warp, cycle, chain_of):
    """A missing warp slot or cycle is refused in one line."""
    with pytest.raises(UserError, match=chain_of):
        explain(timeline_of("two_schedulers"), warp, cycle, 9)


@settings(REPEATABLE, max_examples=draws(200))
@given(timelines(), st.data())
def test_every_warp_has_an_answer_in_every_cycle(document, data):
    """The chain ends, never goes forward in time, and begins with the given warp."""
    warp = data.draw(st.sampled_from(document.shown))
    cycle = data.draw(st.integers(document.start, document.end - 1))
    steps = explain(document, warp, cycle, 1000)
    assert (steps[0].warp, steps[0].cycle) == (warp, cycle)
    cycles = [step.cycle for step in steps]
    assert cycles == sorted(cycles, reverse=True)


@pytest.mark.jit
def test_before_its_first_slot_a_warp_has_not_exited():
    """GCN's SIMD 3 has its first slot at 3: until then its warp, placed at 0, is reported as waiting for it."""
    document = timeline(make("sgemm-vega-vlp", {"m": "256", "n": "256", "k": "16"}), load("mi60"), end=40)
    (step,) = explain(document, 3, 1, 9)
    assert (step.what, step.start, step.end) == ("no_warp", 0, 3)
    assert step.words == "its first issue slot is not there yet (block 0)"


def test_memory_that_is_late_is_reported():
    """32 lanes ask at 54 for 32 lines of 10 cycles each: the load is done at 974, 320 beyond its latency of 600."""
    text = ".buffer x u32 4096\nS2R R0, TID.X\nSHL R1, R0, 7\nIADD R1, R1, c[x]\nLDG R2, [R1]\nMOV R3, R2\nEXIT"
    document = timeline(read(text), plain_machine({"chip.dram_mbs": 12_800, "chip.shader_mhz": 1000}))
    of_load = next(step for step in explain(document, 0, 100, 9) if step.pc == 3)
    assert of_load.words.endswith(f"done at 974, 320 cycles {LATE}")


@pytest.mark.jit
@pytest.mark.parametrize(
    ("filled", "line", "level"),
    [
        (1, 0, "the L1 missed, the L2 served it"),
        (1, 1, "the far side of the L2 served it"),
        (0, 0, "the DRAM served it"),
        (0, 1, "the DRAM served it"),
    ],
)
def test_an_idle_level_is_not_late(filled, line, level):
    """A load of either line on an idle H200 takes the latency of what serves it, and no cycle more."""
    text = ".buffer x u32 64\nS2R R0, TID.X\nSHL R1, R0, 2\nIADD R1, R1, c[x]\n"
    text += f"LDG R2, [R1+{128 * line}]\nMOV R3, R2\nEXIT"
    document = timeline(read(text), load("h200", {"cache.hits": "tags", "l2.filled": filled}))
    (loaded,) = (one for one in document.instructions if one.pc == 3)
    of_load = next(step for step in explain(document, 0, loaded.done - 1, 9) if step.pc == 3)
    assert level in of_load.words
    assert LATE not in of_load.words


@pytest.mark.jit
def test_stores_that_the_l2_takes_slowly_say_so():
    """A store passes on 32 lanes a line apart in 32 cycles; what it takes beyond is the time of the L2."""
    text = ".block 1024\n.grid 132\n.buffer x u32 4325376\nS2R R0, TID.X\nS2R R1, CTAID.X\nIMAD R0, R1, 1024, R0\n"
    text += "SHL R0, R0, 7\nIADD R0, R0, c[x]\nSTG [R0], R1\nEXIT"
    document = timeline(read(text), load("h200", {"cache.hits": "tags"}))
    stores = [one for one in document.instructions if one.pc == 5]
    assert {one.conflicts for one in stores} == {31}
    assert all(one.late == max(0, one.done - one.begin - 32) for one in stores)
    slow = max(stores, key=lambda one: one.late)
    words = [step.words for step in explain(document, slow.warp, slow.done - 1, 9)]
    assert any(f"{slow.late:,} cycles {TAKEN}" in one for one in words)


@pytest.mark.parametrize("machine", ["gtx580", "v100"])
def test_stores_do_not_wait_for_an_l2_that_is_not_known(machine):
    """Where caches keep no tags, stores to 32 lines wait for the channel to the DRAM: no L2 is named."""
    text = ".block 256\n.buffer x u32 8192\nS2R R0, TID.X\nSHL R0, R0, 7\nIADD R0, R0, c[x]\nSTG [R0], R0\nEXIT"
    document = timeline(read(text), load(machine, {"cache.hits": "none"}))
    slow = max(document.instructions, key=lambda one: one.late)
    words = next(step.words for step in explain(document, slow.warp, slow.done - 1, 9) if step.id == slow.id)
    assert words.endswith(f"{slow.late:,} cycles {TAKEN}")
    assert slow.late > 0
    assert "L2" not in words


def test_a_special_register_read_has_no_conflicts():
    """S2R occupies the H200's load/store unit for two cycles, and has no passes beyond those of its width."""
    document = timeline(read(".block 64\nS2R R0, TID.X\nSTS [RZ], R0\nEXIT\n.shared 16"), load("h200"))
    assert {one.conflicts for one in document.instructions if one.pc == 0} == {0}


@pytest.mark.jit
def test_two_levels_are_reported():
    """Under `two_level` the words of a warp that is not selected name active warps."""
    document = timeline(make("mix", {"iterations": "1"}), load("c2050", {"schedulers.policy": "two_level"}), end=400)
    waiting = next(i for i in document.instructions for wait in i.waits if wait.reason == "not_selected")
    cycle = next(wait.start for wait in waiting.waits if wait.reason == "not_selected")
    assert explain(document, waiting.warp, cycle, 1)[0].words.endswith("active warps alone")


def test_a_result_that_is_there_before_the_next_slot_is_done():
    """Slots begin at even cycles: at 31 the load is done, and its reader still waits for the slot at 32."""
    text = ".shared 16\nLDS R1, [RZ]\nFADD R2, R1, R1\nEXIT"
    document = timeline(read(text), plain_machine({"shared_memory.latency_32": 31}))
    assert [(chain_of(document, 0, cycle)[0][3], chain_of(document, 0, cycle)[1][3]) for cycle in (30, 31)] == [
        ("short_scoreboard", "under_way"),
        ("short_scoreboard", "done"),
    ]


def test_machine_code_is_named_by_its_place():
    """The steps name an instruction of machine code by function, offset, text and line of source."""
    kernel = saxpy()
    document = with_source(timeline(kernel, load("h200")), kernel.program)
    first, *_ = explain(document, 0, 900, 2)
    assert first.instruction == "saxpy+0x140 FFMA R11, R2, UR5, R11 (saxpy.cu:3)"
    assert first.what == "long_scoreboard"


def test_a_wait_for_a_phase_leads_to_the_copy_that_ended_it():
    """A branch waits for a look at a barrier, that for its phase, and the phase for the last byte of a copy."""
    texts = ("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R1], R2", "sync"), ("@!P0 BRA x", "control"), ("UTMALDG.2D", "sync")
    program = [Line(pc, *each) for pc, each in enumerate(texts)]
    asked = Issued(0, 0, 0, 2, 0, 2, 3, 4, 10, 32)
    looked = Issued(1, 0, 0, 0, 0, 5, 6, 8, 101, 32, (Wait("wait", 3, 5),))
    branched = Issued(2, 0, 0, 1, 0, 101, NONE, NONE, NONE, 32, (Wait("long_scoreboard", 6, 101, 1),))
    document = replace(
        by_hand(program, [asked, looked, branched], 120),
        copies=(Copy(0, 0, 0, 2, 4096, 3, 40, 100, 1024),),
        phases=(Phase(1024, 0, 0, 0, 0, 100, 1, 4096, 0, (Waiting(0, 1, 5),)),),
    )
    waits, look, copy = explain(document, 0, 50, 10)
    assert (waits.what, waits.words) == ("long_scoreboard", "waits for a phase of a barrier in shared memory")
    assert "waits at mbarrier 0x400, whose phase 0 ends at 100 with 4,096 bytes; warp 0 waited" in look.words
    assert (copy.id, copy.pc) == (0, 2)
    assert "4,096 bytes are asked for from 3 to 40, the last has come at 100" in copy.words


def test_a_wait_for_a_warpgroup_is_called_so():
    """It counts as a barrier, but other warps' arrival is not what it is for: products are."""
    program = [
        Line(0, "HGMMA.64x8x16.F32.gsb0 R4, gdesc[UR4], R4", "warpgroup"),
        Line(1, "WARPGROUP.DEPBAR.LE 0", "sync"),
    ]
    product = Issued(0, 0, 0, 0, 0, 2, 5, 21, 60, 32)
    waited = Issued(1, 0, 0, 1, 0, 60, NONE, NONE, NONE, 32, (Wait("barrier", 3, 60, 0),))
    first, *_ = explain(by_hand(program, [product, waited], 80), 0, 40, 2)
    assert (first.what, first.words) == ("barrier", "waits for matrix instructions of its warpgroup")
