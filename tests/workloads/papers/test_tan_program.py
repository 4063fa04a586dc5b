from __future__ import annotations

from collections import Counter

import pytest

from isa.row import Unit
from isa.schedule.schedule import stalls
from workloads.papers.tan.tan import dgemm_tan
from workloads.papers.tan.tan_program import TABLE_3


def loop(variant, width=None, **others):
    """Return the instructions of the loop, its branch included."""
    program = dgemm_tan(variant=variant, width=width, **others).program
    (branch,) = (pc for pc, i in enumerate(program.instructions) if i.row.mnemonic == "BRA")
    return program.instructions[program.labels["loop"] : branch + 1]


@pytest.mark.parametrize("variant", ["alg3", "v2", "v3", "v4"])
def test_algorithm_3_has_the_instructions_of_table_3(variant):
    """Per round 4 fetches, 64 LDS.128, 256 DFMA, 4 STS.128, ten integer ones, a branch and two barriers: 341."""
    body = loop(variant)
    counts = Counter(i.row.mnemonic for i in body)
    plain = Counter(i.row.mnemonic for i in loop(variant, read="plain"))
    assert (counts["TEX.128"], plain["LDG.128"], len(loop(variant, read="plain"))) == (4, 4, len(body))
    integer = sum(i.row.unit in (Unit.INT, Unit.LOGIC, Unit.COMPARE) for i in body)
    assert (counts["LDS.128"], counts["DFMA"], counts["STS.128"]) == (64, 256, 4)
    assert (integer, counts["BRA"], counts["BAR.SYNC"], len(body)) == (10, 1, 2, 341)


@pytest.mark.parametrize(("width", "loads", "moves"), [(64, 128, 8), (128, 64, 4)])
def test_algorithm_1_has_the_instructions_of_its_bound(width, loads, moves):
    """256 DFMAs to 128 + 8 + 8 memory instructions of 64 bits, or 64 + 4 + 4 of 128: bounds of 64 and 78 %."""
    kinds = Counter(i.row.mnemonic.split(".")[0] for i in loop("alg1", width))
    assert (kinds["DFMA"], kinds["LDS"], kinds["LDG"], kinds["STS"]) == (256, loads, moves, moves)


def test_algorithm_1_moves_a_before_it_fetches_b():
    """As in figure 1, four fetches and four stores of A come first, then as many of B."""
    moves = [i.row.mnemonic for i in loop("alg1") if i.row.mnemonic in ("LDG.64", "STS.64")]
    assert moves == 2 * (4 * ["LDG.64"] + 4 * ["STS.64"])


def test_algorithm_2_needs_more_than_63_registers_unless_it_spills():
    """48 of data, 16 of prefetch and six pointers are 70; with six doubles spilled 62 are enough, with four not."""
    needed = {s: dgemm_tan(variant="alg2", spilled=s).program.registers for s in range(0, 9, 2)}
    assert needed == {0: 70, 2: 70, 4: 66, 6: 62, 8: 58}


@pytest.mark.parametrize(("spilled", "windows"), [(2, 1), (6, 3), (8, 4)])
def test_algorithm_2_fetches_many_updates_before_it_spills(spilled, windows):
    """Each window of two doubles has a fourth of the tile's 256 DFMAs or more between its fetch and its spill."""
    names = [i.row.mnemonic for i in loop("alg2", spilled=spilled)]
    stores = [i for i, name in enumerate(names) if name == "STL.64"]
    fetches = [i for i, name in enumerate(names) if name == "LDG.64"][-spilled:]
    between = [names[fetched:stored].count("DFMA") for fetched, stored in zip(fetches, stores, strict=True)]
    assert len(stores) == spilled
    assert between == [16 * (16 // windows)] * spilled


def test_half_a_tile_between_barriers_has_160_instructions():
    """In version 3 these are 128 DFMAs and 32 loads from shared memory."""
    body = loop("v3")
    first = body[: next(i for i, each in enumerate(body) if each.row.unit is Unit.BARRIER)]
    assert sum(i.row.unit is Unit.DP or i.row.mnemonic == "LDS.128" for i in first) == 160


def test_figure_9s_order_stalls_less():
    """With shared loads between the DFMAs, version 3 waits less than three quarters as long for them as version 2."""

    def waits(variant):
        kept = [i for i in loop(variant) if i.row.unit is Unit.DP or i.row.mnemonic == "LDS.128"]
        return sum(stalls(kept, TABLE_3))

    assert 0 < 4 * waits("v3") < 3 * waits("v2")


def test_version_4_fetches_early_and_stores_late():
    """In each half both fetches are before the fifth DFMA, and both stores between 100 DFMAs and the barrier."""
    body = loop("v4")
    halves = [body[:170], body[170:]]
    for half in halves:
        names = [i.row.mnemonic for i in half]
        fetches = [i for i, name in enumerate(names) if name == "TEX.128"]
        stores = [i for i, name in enumerate(names) if name == "STS.128"]
        assert (len(fetches), len(stores)) == (2, 2)
        assert names[: fetches[-1]].count("DFMA") < 5
        assert names[: stores[0]].count("DFMA") > 100
        assert names.index("BAR.SYNC") > stores[-1]


def test_a_larger_blocking_has_its_share_of_dfmas():
    """8 by 8 values a thread: 64 DFMAs to 8 shared loads of 128 bits or 16 of 64; 2 by 2: 4 to 4 of 64."""

    def counts(blocking, width):
        found = Counter(i.row.mnemonic for i in loop("alg1", width, blocking=blocking))
        return found["DFMA"] / 16, found[f"LDS.{width}"] / 16

    assert [counts(8, 128), counts(8, 64), counts(2, 64)] == [(64, 8), (64, 16), (4, 4)]


@pytest.mark.long
def test_searched_loads_stall_less_than_those_of_figure_9():
    """The search begins with version 2's order; moving four loads together it finds a better one than figure 9's."""

    def waits(variant, order="figure9"):
        half = loop(variant, order=order)[:170]
        kept = [i for i in half if i.row.unit is Unit.DP or i.row.mnemonic == "LDS.128"]
        return sum(stalls(kept, TABLE_3))

    assert waits("v3", "searched") < waits("v3") < waits("v2")
