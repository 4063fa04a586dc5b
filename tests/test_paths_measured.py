"""Ways to the L2, its slices, tables, stacks and the sets of the L1: as an H200 took them (h200_paths.csv), and here.

The numbers of `[l2_channel]`, `[l2_atomic]`, `l2.keeps_bytes` and `l1.hashed` were read off some of these rows, or
chosen with them in sight. That local stores go through was read off `stack`, that sectors of a constant load follow
each other off `table`; no number was fitted to these. docs/hopper.md says more.
"""

import pytest
from draws import few
from measured_limits import by_experiment, documented, module_of, some, stated, within
from path_rows import Row, code, rows, simulated

# Percent: the median error and the 95th percentile, as reached in November 2026, rounded up; `sets` since blocks keep
# 1 KB of shared memory.
LIMITS = {
    "gather": (6.5, 37),
    "scatter": (4, 62),
    "store": (11, 136),
    "red": (9.3, 102),
    "redf": (18, 108),
    "atom": (21, 59),
    "one": (8.6, 13),
    "table": (7.9, 37),
    "stack": (14, 64),
    "sets": (3.7, 73),
    "sweep": (28, 44),
}
of = by_experiment(rows)


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """The cubin as a module."""
    return module_of(tmp_path_factory.mktemp("cubin"), code())


def error(module, row: Row) -> float:
    """Return the error of a row in percent."""
    return 100 * abs(simulated(module, row) / row.cycles - 1)


@pytest.mark.jit
@pytest.mark.parametrize("experiment", few(LIMITS, 1))
def test_rows_are_met(module, experiment):
    """Of all rows the median error and the 95th percentile are no larger than they were; of few the median is below."""
    found = [error(module, row) for row in some(of(experiment), 5)]
    assert within(found, *LIMITS[experiment])


def test_every_row_belongs_to_an_experiment():
    """The file has rows of the experiments above and of no other, each launch once."""
    assert {row.experiment for row in rows()} == set(LIMITS)
    assert len({row[:6] for row in rows()}) == len(rows())


def test_the_document_has_these_errors():
    """The table in docs/hopper.md says the rows, the median and the 95th percentile of each experiment."""
    assert documented("L2 channels") == stated(LIMITS, of)


def test_random_places_cost_as_they_do():
    """What the rules say of the ways to the L2, in the chip's rows: cycles of 2,048 loads or stores of 32 warps."""
    cycles = {row[:6]: row.cycles / 2048 for row in rows() if row.warps == 32 and row.first == 4 << 20}
    of_all = {unit: cycles["gather", 132, 32, 4 << 20, unit, 16] for unit in (32, 64, 128)}
    assert of_all[32] / of_all[64] == pytest.approx(2, rel=0.1)  # 32 sectors alone as 32 pairs
    assert of_all[64] / of_all[128] == pytest.approx(1, rel=0.1)
    of_one = [cycles["scatter", 1, 32, 4 << 20, unit, 16] for unit in (32, 64, 128)]
    assert of_one == pytest.approx([32 + 32, 16 + 32, 8 + 32], rel=0.01)  # lines and sectors


def test_atomics_of_a_word_take_a_slice():
    """32 lanes of one word take 40 cycles, 96 of real numbers, on one SM as on 132, within 15 %."""
    every = {row[:4]: row for row in rows() if row.warps == 8 and row.first == 1}
    for name, taken in (("red", 40), ("redf", 96)):
        for sms in (1, 33, 132):
            row = every[name, sms, 8, 1]
            assert row.cycles / (sms * 8 * 32) == pytest.approx(taken, rel=0.15)


def test_the_l1_has_no_set_that_is_full_too_soon():
    """1,536 lines at any distance hit when they are read again; of 1,792 some miss, and most hit."""
    found = {row[3:6]: row.cycles for row in rows() if row.experiment == "sets"}
    for lines, least, most in ((4, 60, 75), (1536, 60, 62), (1792, 90, 135)):
        again = [
            (found[stride, lines, 5] - found[stride, lines, 1]) / 4 / lines
            for stride in (1 << k for k in range(7, 18))
            if (stride, lines, 5) in found
        ]
        assert len(again) == 11
        assert all(least <= each <= most for each in again)
