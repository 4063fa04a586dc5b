"""When launches end: as an H200 ended them (h200_ends.csv), and here, by one SM that stands for all.

Of these rows `launch.begin` and `launch.refill_parts` were read off those of blocks without memory (`nothing`, `spin`),
and `l2_atomic.ending` off `one_red`; all else is predicted, what `[l2_atomic]` says besides was read off others
(h200_paths.csv). That a launch waits for the atomics
of the L2 is a rule that was made with the public report of a jump in sight, not the rows. docs/hopper.md says more.
"""

from itertools import pairwise

import pytest
from ends_rows import ALONE, STORING, WAITING, Row, code, counted, cycles, rows, scanned, simulated, stored
from measured_limits import by_experiment, documented, module_of, some, stated, within

from gpusim.machine.machine import load

# Percent: the median error and the 95th percentile, as reached in November 2026, rounded up.
LIMITS = {
    "own_empty": (26, 41),
    "own_store": (19, 38),
    "one_store": (14, 38),
    "block_store": (23, 42),
    "own_shared": (15, 43),
    "own_load": (20, 39),
    "one_red": (1, 46),
    "block_red": (55, 73),
    "own_red": (16, 44),
    "one_redf": (0.4, 39),
    "block_redf": (50, 66),
    "own_redf": (16, 53),
    "one_atom": (1, 2.7),
    "block_atom": (25, 64),
    "own_atom": (6.7, 14),
    "one_atomf": (1.1, 3.8),
    "spin": (4, 30),
    "nothing": (26, 90),  # launch.begin is of its rows of few blocks; blocks that do nothing begin sooner than here
}
of = by_experiment(rows)
SOME = 1, 2, 131, 132, 133, 264, 265, 400  # numbers of blocks: few, and at the ends of waves
BLOCK_LATENCY = 260  # cycles of an h200 until a further block begins


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """The cubin as a module."""
    return module_of(tmp_path_factory.mktemp("cubin"), code())


@pytest.mark.jit
@pytest.mark.parametrize("experiment", LIMITS)
def test_launches_end_when_they_do(module, experiment):
    """Of all rows the median error and the 95th percentile are no larger than they were; of few the median is below."""
    found = [100 * abs(simulated(module, row) / cycles(row) - 1) for row in some(of(experiment), 3)]
    assert within(found, *LIMITS[experiment])


def grows_evenly(module, experiment: str, threads: int, numbers) -> bool:
    """Tell whether each further block adds at most what one takes alone, and the cycles before it begins.

    What the L2 does in the `ending` cycles behind the last exit is not seen, where one block is alone.
    """
    taken = {blocks: simulated(module, Row(experiment, blocks, threads, 0, 0, 0)) for blocks in numbers}
    most = taken[1] + load("h200").l2_atomic.ending + BLOCK_LATENCY
    steps = ((more - fewer, taken[more] - taken[fewer]) for fewer, more in pairwise(taken))
    return all(-2 <= grown <= blocks * most for blocks, grown in steps)


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("experiment", [one for one in LIMITS if one not in ALONE])
def test_cycles_grow_without_a_jump(module, experiment):
    """From 1 to 400 blocks of a warp and of 32, with their neighbours at the ends of waves, no block makes a jump."""
    assert grows_evenly(module, experiment, 32, SOME)
    assert grows_evenly(module, experiment, 1024, SOME)


@pytest.mark.jit
@pytest.mark.slow
@pytest.mark.parametrize("experiment", [one for one in LIMITS if one not in ALONE])
def test_cycles_grow_without_a_jump_from_block_to_block(module, experiment):
    """The same of each number of blocks from 1 to 400, of a warp."""
    assert grows_evenly(module, experiment, 32, range(1, 401))


def test_atomics_of_one_word_grow_on_the_chip_as_their_lanes_do():
    """In the chip's rows of 1,024 threads each lane at one word takes 1.45 cycles, 3.48 of real numbers, from 33 on."""
    for name, lane in (("one_red", 1.45), ("one_redf", 3.48), ("one_atom", 1.45), ("one_atomf", 3.48)):
        found = [row for row in of(name) if row.threads == 1024 and row.blocks >= 33]
        grown = [(later, before, cycles(later) - cycles(before)) for before, later in pairwise(found)]
        wide = [more / (later.blocks - before.blocks) / 1024 for later, before, more in grown if more > 20_000]
        assert wide == pytest.approx([lane] * len(wide), rel=0.03)


def test_an_sm_is_done_before_its_atomics_are():
    """In the chip's rows a launch of `RED` lasts longer than any SM is active, by a fifth with 132 blocks."""
    for name in ("one_red", "one_redf"):
        (row,) = (row for row in of(name) if (row.blocks, row.threads) == (132, 1024))
        assert 1.15 < cycles(row) / row.active < 1.3


@pytest.mark.jit
def test_each_store_moves_its_sectors(module):
    """32 stores of a warp to 32 sectors each move 1,024, if eight in turn fill a sector or not.

    Where none is stored twice the cycles are within an eighth of the chip's.
    """
    found = {experiment: stored(module, experiment) for experiment in STORING}
    assert [sectors for _, sectors in found.values()] == [1024, 1024]
    assert found["far"][0] == pytest.approx(cycles(of("far")[0]), rel=0.125)


def test_every_row_belongs_to_an_experiment():
    """The file has rows of the experiments above, of blocks that wait for each other and of 32 stores, each once."""
    assert {row.experiment for row in rows()} == {*LIMITS, *WAITING, *STORING}
    assert len({row[:4] for row in rows()}) == len(rows())


def test_the_document_has_these_errors():
    """The table in docs/hopper.md says the rows, the median and the 95th percentile of each experiment."""
    assert documented("When launches end") == stated(LIMITS, of)


@pytest.mark.jit
@pytest.mark.slow
def test_blocks_that_wait_for_each_other_end(module):
    """A barrier of the grid and a scan with look-back come to their end on all SMs, with right values."""
    assert counted(module, 40) == 40
    assert scanned(module, 140)
