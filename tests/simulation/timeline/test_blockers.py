"""The blocker of each wait: the instruction whose result, read or place the warp waits for."""

import pytest
from read.worked import timeline_of
from timing import plain_machine

from gpusim.launch.feed import TRACE_DRIVEN
from gpusim.launch.launch import launch
from gpusim.simulation.timeline import blockers
from gpusim.simulation.timeline.build import timeline
from gpusim.sm.unit.stall import BUSY, UNCHOSEN, Stall, label
from gpusim.views.timeline.document import NONE, Timeline
from isa.text.listing import read
from workloads.catalog import make

# The golden file, the warp and pc that waited, the reason, and the warp and pc of the blocker.
BLAMED = [
    ("barrier", (0, 1), "barrier", (1, 0)),
    ("barrier_per_warp", (1, 1), "barrier", (1, 0)),
    ("branch_resolving", (0, 2), "branch_resolving", (0, 0)),
    ("cache_tags_joined", (0, 4), "long_scoreboard", (0, 1)),
    ("cache_tags_joined", (0, 5), "long_scoreboard", (0, 3)),
    ("cache_tags_room", (0, 4), "mio_throttle", (0, 3)),
    ("code_read_barrier", (0, 1), "war_hazard", (0, 0)),
    ("code_stall_count", (0, 1), "wait", (0, 0)),
    ("code_two_barriers", (0, 3), "short_scoreboard", (0, 2)),
    ("code_two_barriers", (0, 4), "long_scoreboard", (0, 1)),
    ("dispatch_stall", (0, 2), "dispatch_stall", (0, 1)),
    ("dispatch_stall_guard", (0, 2), "dispatch_stall", (0, 0)),
    ("dispatch_stall_returned", (0, 1), "dispatch_stall", (0, 0)),
    ("dispatch_stall_write_back", (0, 6), "dispatch_stall", (0, 5)),
    ("drain", (0, 2), "drain", (0, 1)),
    ("drain_texture", (0, 2), "drain", (0, 1)),
    ("imc_miss", (0, 2), "imc_miss", (0, 1)),
    ("joint_and_blocked", (0, 6), "math_pipe_throttle", (0, 4)),
    ("lg_throttle", (0, 1), "lg_throttle", (0, 0)),
    ("math_pipe_throttle", (0, 1), "math_pipe_throttle", (0, 0)),
    ("memory_port_held", (0, 1), "mio_throttle", (0, 0)),
    ("mio_throttle", (2, 0), "mio_throttle", (1, 0)),
    ("mio_throttle_wasted_slot", (2, 0), "mio_throttle", (1, 0)),
    ("no_instruction", (0, 2), "no_instruction", (0, 1)),
    ("not_selected", (1, 0), "not_selected", (0, 0)),
    ("outstanding", (0, 1), "mio_throttle", (0, 0)),
    ("pipe_choice", (1, 1), "math_pipe_throttle", (1, 0)),
    ("scalar_loads", (0, 2), "math_pipe_throttle", (0, 1)),
    ("scalar_loads", (0, 4), "short_scoreboard", (0, 1)),
    ("selection_keeps", (0, 1), "dispatch_stall", (0, 0)),
    ("selection_freezes", (1, 1), "dispatch_stall", (0, 1)),
    ("short_scoreboard", (0, 1), "short_scoreboard", (0, 0)),
    ("short_scoreboard_write_back", (0, 4), "short_scoreboard", (0, 0)),
    ("tex_throttle", (0, 1), "tex_throttle", (0, 0)),
    ("two_schedulers", (1, 1), "math_pipe_throttle", (0, 1)),
    ("wait", (0, 1), "wait", (0, 0)),
    ("wait_count", (0, 3), "long_scoreboard", (0, 0)),
    ("wait_waw", (0, 1), "wait", (0, 0)),
    ("dp_issue_conflict_flight", (1, 0), "dp_issue_conflict", (0, 1)),
    ("dp_issue_conflict_issue", (1, 0), "dp_issue_conflict", (0, 1)),
    ("issue_interval", (0, 1), "issue_interval", (0, 0)),
    ("instruction_replay", (1, 2), "instruction_replay", (0, 2)),
    ("war_hazard", (0, 1), "war_hazard", (0, 0)),
]
WITHOUT_BLOCKER = {"launch_delay"}
NO_WAIT = {"selected", "warp_exited", "no_warp"}


def blamed(document: Timeline, waiter: tuple[int, int], reason: str) -> set[tuple[int, int]]:
    """Return warp and pc of the blockers for which the first instruction at a warp and pc waited."""
    one = next(one for one in document.instructions if (one.warp, one.pc) == waiter)
    culprits = [document.instructions[wait.blocker] for wait in one.waits if wait.reason == reason]
    return {(culprit.warp, culprit.pc) for culprit in culprits}


@pytest.mark.every
@pytest.mark.parametrize(("name", "waiter", "reason", "culprit"), BLAMED)
def test_each_wait_names_its_blocker(name, waiter, reason, culprit):
    """In a timeline worked out by hand each wait names the instruction whose result, read or place it is for."""
    assert blamed(timeline_of(name), waiter, reason) == {culprit}


def test_every_reason_has_a_blocker():
    """Each stall reason of a waiting warp has an example here, but launch_delay, which has no blocker."""
    assert {reason for _, _, reason, _ in BLAMED} == {label(reason) for reason in Stall} - NO_WAIT - WITHOUT_BLOCKER
    (block_skew,) = (wait for one in timeline_of("launch_delay").instructions for wait in one.waits)
    assert (block_skew.reason, block_skew.blocker) == ("launch_delay", NONE)


def test_a_reader_names_the_one_of_two_results_that_it_reads():
    """R0 and R3 are both written at 18: a reader of R0 names the writer of R0, a reader of R3 that of R3."""
    text = "FADD R0, R1, R2\nFADD R3, R4, R5\nFADD R6, {0}, {0}\nEXIT"
    changes = {"schedulers.issue_interval": 2, "unit.fp32.latency": 18, "schedulers.dispatch_ports": 2}
    for register, writer in (("R0", 0), ("R3", 1)):
        document = timeline(read(text.format(register)), plain_machine(changes | {"pipe.sp.lanes": 32}))
        assert blamed(document, (0, 2), "wait") == {(0, writer)}


def test_kept_refusals_are_searched_only_when_they_have_doubled():
    """While a warp waits from cycle 0 on, all 10,000 refusals are kept, and 8 searches, not 10,000, find that out.

    Once the warp is ready from 9,990 on, only the last ones are kept.
    """
    sm = blockers.begin(launch(make("chain"), plain_machine(), feed=TRACE_DRIVEN))
    blockers.place(sm, range(1), 0)
    limits = set()
    for now in range(1, 10_001):
        blockers.hold(sm, 0, 0, UNCHOSEN if now % 2 else BUSY, now)
        limits.add(sm.schedulers[0].kept[0])
    assert len(limits) == 1 + 8
    assert len(sm.schedulers[0].held[0]) == 10_001
    sm.warps[0].since = 9_990
    for now in range(10_001, 16_900):
        blockers.hold(sm, 0, 0, UNCHOSEN if now % 2 else BUSY, now)
    assert sm.schedulers[0].held[0][0].end == 9_991
