"""What timelines have of copies, phases of barriers and products: those of programs whose numbers are known."""

from functools import cache
from itertools import pairwise

import pytest
from read.fenced import ROOT

from gpusim.launch.file.prepare import prepared
from gpusim.machine.machine import load
from gpusim.simulation.timeline.build import timeline
from gpusim.views.timeline.document import NONE
from gpusim.views.timeline.file import part
from gpusim.views.timeline.units import unit_rows

pytestmark = pytest.mark.jit
STAGES, ROUNDS, STAGE_BYTES = 4, 8, 32768  # of examples/gemm/tma.cu: depth 512 in steps of 64, two copies of 16 KB each


@cache
def whole():
    """Return the timeline of the product that is fed by tensor copies."""
    return timeline(prepared(str(ROOT / "examples" / "gemm" / "tma.cubin")), load("h200"))


def test_each_copy_has_its_bytes_and_its_barrier():
    """Sixteen copies of 16 KB, two for each of four barriers in turn, one after the other."""
    copies = sorted(whole().copies, key=lambda copy: copy.start)
    assert [copy.bytes for copy in copies] == [STAGE_BYTES // 2] * 2 * ROUNDS
    first = min(copy.barrier for copy in copies)
    assert [(copy.barrier - first) // 8 for copy in copies] == [n // 2 % STAGES for n in range(2 * ROUNDS)]
    assert all(before.end <= after.start for before, after in pairwise(copies))
    assert all(copy.start < copy.end < copy.landed for copy in copies)


def test_a_phase_ends_when_its_last_byte_comes_or_who_frees_it_arrives():
    """Barriers of bytes end two phases with 32 KB in the cycle of a copy, those of stages with two arrivals."""
    found, copies = whole(), {copy.landed: copy for copy in whole().copies}
    by_id = {one.id: one for one in found.instructions}
    ended = [phase for phase in found.phases if phase.ended_by != NONE]
    filled = [phase for phase in ended if phase.bytes]
    assert len(filled) == ROUNDS
    assert {(phase.bytes, phase.arrivals) for phase in filled} == {(STAGE_BYTES, 1)}
    assert all(copies[phase.end].instruction == phase.ended_by for phase in filled)
    freed = [phase for phase in ended if not phase.bytes]
    assert {phase.arrivals for phase in freed} == {2}
    assert {by_id[phase.ended_by].issue - phase.end for phase in freed} == {0}


def test_who_waits_for_a_phase_goes_on_behind_its_end():
    """Each instruction that waits for a phase is done after its end, and began to wait before."""
    by_id = {one.id: one for one in whole().instructions}
    waits = [(phase, one) for phase in whole().phases for one in phase.waiting]
    assert waits
    for phase, one in waits:
        assert one.since == by_id[one.instruction].issue <= phase.end < by_id[one.instruction].done


def test_products_keep_the_tensor_cores_of_their_four_warps():
    """64 products of 128 columns, two columns in a cycle: 4,096 cycles of each scheduler's tensor cores."""
    rows = unit_rows(whole())
    busy = {name: sum(one.end - one.start for one in works) for name, works in rows.items() if "tensor" in name}
    assert busy == {f"tensor {k}": 64 * 64 for k in range(4)}


def test_a_part_is_what_a_shorter_run_has():
    """Copies and phases of the first cycles are those of the whole document cut there."""
    end = 3000
    short = timeline(prepared(str(ROOT / "examples" / "gemm" / "tma.cubin")), load("h200"), end=end)
    cut = part(whole(), 0, end, None)
    assert sorted(short.copies, key=lambda copy: copy.start) == sorted(cut.copies, key=lambda copy: copy.start)
    assert short.phases == cut.phases
