"""Units of an H200 one by one: the stamps of tests/measured/chip.cu as they were measured, and simulated.

What a row's figures are: the last stamp of its latest warp; of `stores` that of the last issue, since MEMBAR does not
wait for stores here; of `gather` from the first barrier to the end, without the loads that bring the lines; of blocks
among each other (`arith`, `tiles`, `waves`) the end of each. Errors are shares of the chip's figures.

Machine `h200` was fitted to, or its rules chosen by, rows of all experiments but `straight`, `bursts` and `halves`,
which are in sight of it: nothing here is predicted. docs/hopper.md says which number was read off which.
"""

import chip_rows
import numpy as np
import pytest
from chip_rows import Row, code, launched, rows, stamps
from measured_limits import documented, module_of, some, stated

# Percent: the median error, the 95th percentile, and the worst, as reached in November 2026, rounded up.
LIMITS = {
    "consts": (5.1, 18, 27),
    "loads": (4.7, 32, 84),
    "stores": (24, 82, 316),
    "stream": (8.5, 19, 20),
    "empty": (7, 67, 72),
    "arith": (1.5, 27, 84),
    "waves": (2.6, 3.8, 6.1),
    "tiles": (3.2, 16, 19),
    "behind": (2.4, 6.8, 13),
    "straight": (3.3, 9.4, 9.9),
    "rate": (12, 46, 72),
    "local": (1.4, 15, 20),
    "bursts": (1.1, 7.4, 34),
    "gather": (2.7, 23, 53),
    "halves": (4.2, 11, 16),
    "rows": (3.2, 13, 33),
}


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """The cubin as a module."""
    return module_of(tmp_path_factory.mktemp("cubin"), code())


def of(experiment: str) -> list[Row]:
    """Return the rows of an experiment that have figures: not those of one block without a second stamp."""
    return [row for row in rows() if row.experiment == experiment and figures(row, row.stamps, row.each)]


def ends(each) -> list[float]:
    """Return when each block's last warp ended, in order of the blocks."""
    blocks = sorted({block for block, *_ in each})
    return [max(last for block, _, _, last in each if block == one) for one in blocks]


def figures(row: Row, taken, each) -> list[float]:
    """Return what is compared of a row."""
    if row.experiment in ("arith", "tiles", "waves"):
        return ends(each)
    if row.experiment == "empty":
        return [taken[0][2]] if row.blocks > chip_rows.SMS else []
    if row.experiment == "gather":
        return [taken[2][2] - taken[1][0]]
    return [taken[1 if row.experiment == "stores" else -1][2]]


def errors(module, row: Row) -> list[float]:
    """Return the errors of a row's figures, in percent."""
    recs = launched(module, row)
    each = [(int(q["blk"]), int(q["warp"]), 0, int(q["t"][q["n"] - 1] - recs["t"][:, 0].min())) for q in recs]
    mine, chip = figures(row, stamps(recs), each), figures(row, row.stamps, row.each)
    return [100 * abs(one / other - 1) for one, other in zip(mine, chip, strict=True)]


@pytest.mark.jit
@pytest.mark.parametrize("experiment", LIMITS)
def test_units_take_what_they_take_on_the_chip(module, experiment):
    """Rows at even distances in each experiment are met as nearly as they were, or nearer."""
    found = of(experiment)
    part = some(found[:: max(1, len(found) // 24)], 3)
    assert max(error for row in part for error in errors(module, row)) <= LIMITS[experiment][2]


@pytest.mark.jit
@pytest.mark.slow
@pytest.mark.parametrize("experiment", LIMITS)
def test_units_take_what_they_take_in_all_rows(module, experiment):
    """Of all rows the median error, the 95th percentile and the worst are no larger than they were."""
    found = [error for row in of(experiment) for error in errors(module, row)]
    reached = np.median(found), np.percentile(found, 95), max(found)
    assert all(one <= limit for one, limit in zip(reached, LIMITS[experiment], strict=True)), reached


def test_every_row_belongs_to_an_experiment_that_is_compared():
    """The file has rows of the experiments above and of no other, each with the first stamp of its SM."""
    assert {row.experiment for row in rows()} == set(LIMITS) == set(chip_rows.CALLS)
    assert all(row.stamps[0][0] == 0 for row in rows())
    assert len({str(row) for row in rows()}) == len(rows())


def test_the_document_has_these_limits():
    """The table in docs/hopper.md says the rows, the median and the 95th percentile of each experiment."""
    assert documented("Units one by one") == stated(LIMITS, of)


def test_an_error_is_found():
    """A figure that is off by a half is off by 50 %; ends of blocks are those of their last warps, in their order."""
    (row,) = [row for row in rows() if str(row) == "waves I=1 n=20 528x1024"]
    assert len(ends(row.each)) == 4
    assert ends([(9, 0, 0, 5), (1, 0, 0, 7), (9, 1, 0, 6)]) == [7, 6]
    assert figures(row, row.stamps, row.each) == sorted(ends(row.each))
