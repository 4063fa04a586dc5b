"""The trace: what is recorded, and in which order."""

from timing import plain_machine, run_text

from gpusim.engines.simulate import run_sm
from gpusim.state import TRACE_KINDS
from isa.listing import read

TEXT = ".block 64\n.shared 128\nLDS R0, [RZ]\nBAR.SYNC 0\nEXIT"


def test_the_life_of_a_block_in_records():
    """Placed first, retired last; between them each issue, each service and the one release of the barrier."""
    kinds = [TRACE_KINDS[r.kind] for r in run_text(TEXT).trace]
    assert (kinds[0], kinds[-1]) == ("place", "retire")
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "place": 1, "issue": 6, "serve": 2, "release": 1, "retire": 1
    }  # fmt: skip


def test_a_record_holds_the_rungs_that_were_waited_for():
    """The rung of the scoreboard in an issue's record is the cycle at which it let go."""
    run = run_text("FADD R0, R1, R2\nFADD R3, R0, R0\nEXIT", {"unit.fp32.latency": 17})
    second = [r for r in run.trace if TRACE_KINDS[r.kind] == "issue"][1]
    assert (int(second.cycle), int(second.detail), max(second.rung)) == (18, 18, 17)


def test_without_a_trace_nothing_is_recorded():
    """An engine asked for no trace returns an empty one."""
    assert len(run_sm(read(TEXT), plain_machine()).trace) == 0
