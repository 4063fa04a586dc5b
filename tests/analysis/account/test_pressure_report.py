from itertools import pairwise

import pytest

from gpusim.analysis.account.pressure_report import pressure_report
from gpusim.analysis.account.stalls import lost_slots
from gpusim.simulation.simulation import simulate
from isa.code_region import CodeRegion
from isa.text.listing import read
from workloads.catalog import make

pytestmark = pytest.mark.jit
CASES = [("sgemm-lai", {"m": "192", "n": "192", "k": "32"}), ("mix", {"iterations": "2"}), ("bank-conflict", {})]
TWO = ".shared 4096\n// GPUSIM-BEGIN one\n{}// GPUSIM-END\n// GPUSIM-BEGIN two\n{}// GPUSIM-END\nEXIT"

LOOP = "loop:\nFFMA R0, R8, R8, R2\nIADD R9, R9, 1\nISETP.LT P0, R9, 4\n@P0 BRA loop\n"
NESTED = f"MOV R8, 0\n{LOOP}FFMA R3, R0, R0, R2\nFFMA R3, R3, R3, R3\nEXIT"


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case[0])
def found(request):
    """Give reports of kernels with and without loops."""
    return pressure_report(simulate(make(*request.param), "gtx580", values=False))


@pytest.mark.long
def test_regions_that_do_not_overlap_add_up(found):
    """Issues, waits and cycles of every resource add up over regions and the rest to those of the program."""
    assert sum(region.issued for region in found.regions) == found.result.run.issued.sum()
    assert sum(region.waits for region in found.regions) == sum(each.waits for each in found.instructions)
    for name, total in found.totals.items():
        assert sum(region.cycles.get(name, 0) for region in found.regions) == pytest.approx(total)


def test_instructions_add_up(found):
    """Cycles of every resource add up over the instructions to the totals; every instruction is listed, by pc."""
    assert [each.pc for each in found.instructions] == list(range(len(found.result.kernel.program)))
    for name, total in found.totals.items():
        assert sum(each.cycles.get(name, 0) for each in found.instructions) == pytest.approx(total)


def test_bottlenecks_are_the_lost_slots_ranked(found):
    """All reasons are ranked by cycles; shares of lost slots add up to 1, shares of all slots to the lost part."""
    assert {each.reason: each.cycles for each in found.bottlenecks} == lost_slots(found.result.run)
    assert all(one.cycles >= other.cycles for one, other in pairwise(found.bottlenecks))
    assert sum(each.share_of_lost for each in found.bottlenecks) == pytest.approx(1)
    run = found.result.run
    slots = run.cycles * len(run.lost)
    assert sum(each.share_of_slots for each in found.bottlenecks) == pytest.approx(run.lost.sum() / slots)


def test_paths_belong_to_their_region():
    """Two marked chains have critical paths of 36 and 24 cycles, and their instructions report their parts of these."""
    text = TWO.format("FFMA R0, R0, R1, R2\n" * 3, "DADD R4, R4, R6\n" * 2)
    found = pressure_report(simulate(read(text), "gtx580", values=False))
    assert [(region.name, region.critical) for region in found.regions] == [("one", 36), ("two", 24), ("elsewhere", 0)]
    assert [each.critical for each in found.instructions] == [18, 18, None, 24, None, None]
    assert [region.alone for region in found.regions] == [36, 24, 0]


@pytest.mark.parametrize("names", [("whole", "inner"), ("same", "same")])
@pytest.mark.parametrize("step", [1, -1])
def test_rows_of_an_inner_region_sum_to_its_paths(names, step):
    """A loop's rows add up to the loop's paths, other rows are of the program's, for any order and names of regions."""
    result = simulate(read(NESTED), "gtx580", values=False)
    regions = [CodeRegion(names[0], tuple(range(7))), CodeRegion(names[1], (1, 2, 3, 4))]
    found = pressure_report(result, regions[::step])
    rows, (whole, inner) = found.instructions, found.regions[:2][::step]
    assert inner.critical > 0 < inner.carried
    assert sum(rows[pc].critical or 0 for pc in inner.pcs) == inner.critical
    assert sum(rows[pc].carried or 0 for pc in inner.pcs) == inner.carried
    assert [rows[pc].critical for pc in whole.pcs if pc not in inner.pcs] == [18, 18, None]


def test_conflicts_are_reported_by_instruction():
    """A load with an 8-way conflict takes 8 passes; an FFMA with three sources in one bank takes 2 more cycles."""
    text = ".shared 1024\nS2R R0, LANEID\nSHL R0, R0, 5\nLDS R1, [R0]\nEXIT"
    load = pressure_report(simulate(read(text), "gtx580", values=False)).instructions[2]
    assert (load.shared_passes, load.bank_conflicts) == (8.0, 0)
    text = "FFMA R0, R4, R8, R12\nFFMA R1, R5, R6, R7\nEXIT"
    both = pressure_report(simulate(read(text), "gtx980", values=False)).instructions[:2]
    assert [each.bank_conflicts for each in both] == [2, 0]


def test_regions_may_be_given():
    """Given regions replace a program's own; a program without loops or marks is one region."""
    result = simulate(read("FFMA R0, R0, R1, R2\nFFMA R0, R0, R1, R2\nEXIT"), "gtx580", values=False)
    (whole,) = pressure_report(result).regions
    assert (whole.name, whole.pcs, whole.critical) == ("program", (0, 1, 2), 18)
    names = [region.name for region in pressure_report(result, [CodeRegion("first", (0,))]).regions]
    assert names == ["first", "elsewhere"]
