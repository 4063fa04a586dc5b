from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from strategies.launches import timelines

from gpusim.views.timeline.document import NONE, Timeline


@given(timelines())
def test_a_document_survives_json(document):
    """A document written as JSON is read back the same."""
    assert msgspec.json.decode(msgspec.json.encode(document), type=Timeline) == document


@given(timelines())
def test_waits_have_no_gap_and_no_overlap(document):
    """An instruction's waits end at its issue and each begins where the one before ended."""
    for instruction in document.instructions:
        spans = [(wait.start, wait.end) for wait in instruction.waits]
        assert all(start < end for start, end in spans)
        assert all(before[1] == after[0] for before, after in pairwise(spans))
        assert not spans or spans[-1][1] == instruction.issue


@given(timelines())
def test_waits_begin_behind_the_warps_previous_issue(document):
    """Between two issues of a warp and block every cycle is one of waiting; a part may leave one between them out."""
    last, whole = {}, (document.start, document.end) == (0, document.cycles)
    for instruction in document.instructions:
        whose = instruction.warp, instruction.block
        if whose in last:
            start = instruction.waits[0].start if instruction.waits else instruction.issue
            assert start == last[whose] + 1 if whole else start > last[whose]
        last[whose] = instruction.issue


@given(timelines())
def test_ids_count_up_in_order_of_issue(document):
    """Ids rise, times of issue never fall, and whoever is waited for was issued before the wait ended."""
    issue = {i.id: i.issue for i in document.instructions}
    assert list(issue) == sorted(issue)
    assert list(issue.values()) == sorted(issue.values())
    for wait in (wait for i in document.instructions for wait in i.waits if wait.blocker in issue):
        assert issue[wait.blocker] < wait.end


@pytest.mark.long
@given(timelines())
def test_no_slot_is_lost_in_which_an_instruction_issues(document):
    """Lost cycles of a scheduler and its issues never meet."""
    issues = {(i.scheduler, i.issue) for i in document.instructions}
    for lost in document.lost:
        assert all((lost.scheduler, cycle) not in issues for cycle in range(lost.start, lost.end))


@given(timelines())
def test_times_follow_each_other(document):
    """Issue, then occupied, then done; what an instruction does not need is NONE."""
    for i in document.instructions:
        times = [time for time in (i.issue, i.begin, i.end, i.done) if time != NONE]
        assert times == sorted(times)
        assert (i.begin == NONE) == (i.end == NONE)
