"""The trace: what is recorded, and in which order."""

from read.worked import GOLDEN, overrides, sections
from timing import plain_machine, run_text

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.sm.account.record.declaration import TRACE_KINDS
from gpusim.sm.unit.stall import BUSY, UNCHOSEN
from isa.text.listing import read

TEXT = ".block 64\n.shared 128\nLDS R0, [RZ]\nBAR.SYNC 0\nEXIT"


def test_the_life_of_a_block_in_records():
    """A block is placed first and retired last; between them are 6 issues, 2 services and 1 release of its barrier."""
    kinds = [TRACE_KINDS[r.kind] for r in run_text(TEXT).trace]
    assert (kinds[0], kinds[-1]) == ("place", "retire")
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "place": 1, "issue": 6, "serve": 2, "release": 1, "retire": 1
    }  # fmt: skip


def test_a_record_holds_the_release_times():
    """The scoreboard's release time in an issue's record is the cycle of the result."""
    run = run_text("FADD R0, R1, R2\nFADD R3, R0, R0\nEXIT", {"unit.fp32.latency": 17})
    second = [r for r in run.trace if TRACE_KINDS[r.kind] == "issue"][1]
    assert (int(second.cycle), int(second.detail), max(second.release_at)) == (18, 18, 17)


def of_kind(run, kind):
    """The records of a kind."""
    return [r for r in run.trace if TRACE_KINDS[r.kind] == kind]


def test_an_issue_tells_what_it_occupies():
    """An addition takes its pipe of 16 lanes until 2 and is done at 18; one with a false guard takes nothing."""
    run = run_text("FADD R0, R1, R2\n@P0 FADD R3, R4, R5\nEXIT", {"unit.fp32.latency": 18, "pipe.sp.lanes": 16})
    issues = [(int(r.lanes), int(r.end), int(r.done)) for r in of_kind(run, "issue")]
    assert issues == [(32, 2, 18), (0, -1, -1), (32, -1, -1)]


def test_a_service_tells_when_it_is_over():
    """A service of two passes of 4 cycles ends after 8; its sources are read after 7, its result comes after 30."""
    text = ".shared 512\nS2R R0, LANEID\nSHL R0, R0, 3\nLDS R1, [R0]\nEXIT"
    changes = {"shared_memory.pass_cycles": 4, "shared_memory.latency_32": 26, "shared_memory.war_32": 7}
    (served,) = of_kind(run_text(text, changes), "serve")
    start = int(served.cycle)
    times = [int(served[name]) - start for name in ("end", "read", "done", "back")]
    assert (int(served.detail), times) == (8, [8, 7, 30, 30])


def test_a_scheduler_tells_when_it_begins_to_refuse_a_unit_class():
    """The second instruction is ready at 6, but its pipe is busy until 8; from then on it could be selected."""
    changes = {"pipe.sfu.lanes": 4, "unit.sfu.latency": 8}
    run = run_text("MUFU.RCP R0, R1\nMUFU.RCP R2, R3\nEXIT", changes)
    holds = [(int(r.cycle), int(r.detail)) for r in of_kind(run, "hold")]
    assert holds == [(6, BUSY), (8, UNCHOSEN)]


def test_a_replay_and_a_selection_are_recorded_with_their_end():
    """An access of four passes is replayed in three slots, up to 44; three reads in one bank collect until 3."""
    (replayed,) = (sections(path) for path in GOLDEN if path.stem == "instruction_replay")
    (stalled,) = (sections(path) for path in GOLDEN if path.stem == "dispatch_stall_window")
    runs = [
        run_sm(read(golden["listing"]), load("gtx580", overrides(golden["machine"])), trace=True)
        for golden in (replayed, stalled)
    ]
    first = of_kind(runs[0], "replay")[0]
    assert (int(first.cycle), int(first.warp), int(first.pc), int(first.detail)) == (36, 0, 2, 44)
    assert [(int(r.cycle), int(r.pc), int(r.detail)) for r in of_kind(runs[1], "select")] == [(2, 2, 3), (4, 3, 5)]


def test_without_a_trace_nothing_is_recorded():
    """An engine asked for no trace returns an empty one."""
    assert len(run_sm(read(TEXT), plain_machine()).trace) == 0
