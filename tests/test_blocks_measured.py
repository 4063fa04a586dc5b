"""When blocks begin: as an H200 began them (h200_blocks.csv), and here.

`launch.refill_parts`, `rotates` and `block_gap` were read off these rows, `block_latency` and
`constant_operand.next_cycles` chosen with them in sight. docs/hopper.md says more.
"""

import pytest
from block_rows import SMS, Row, code, rows, simulated
from measured_limits import by_experiment, documented, module_of, some, stated, within

# Percent: the median error and the 95th percentile, as reached in November 2026, rounded up.
LIMITS = {
    "begin_first": (2.5, 4.3),
    "begin_first_store": (1.7, 4.7),
    "begin_all": (4.6, 24),
    "begin_all_store": (1.5, 5.1),
    "refill": (1.7, 4),
    "params": (6.5, 35),
}
of = by_experiment(rows)


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """The cubin as a module."""
    return module_of(tmp_path_factory.mktemp("cubin"), code())


def error(module, row: Row) -> float:
    """Return the error of a row's last end in percent; where it has none, of the last begin or stamp."""
    begins, ends = simulated(module, row)
    return 100 * abs(ends[-1] / row.ends[-1] - 1 if row.ends else begins[-1] / row.begins[-1] - 1)


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("experiment", LIMITS)
def test_blocks_begin_when_they_do(module, experiment):
    """Of all rows the median error and the 95th percentile are no larger than they were; of few the median is below."""
    found = [error(module, row) for row in some(of(experiment), 5)]
    assert within(found, *LIMITS[experiment])


def test_every_row_belongs_to_an_experiment():
    """The file has rows of the experiments above and of no other, each launch once."""
    assert {row.experiment for row in rows()} == set(LIMITS)
    assert len({row[:5] for row in rows()}) == len(rows())


def test_the_document_has_these_errors():
    """The table in docs/hopper.md says the rows, the median and the 95th percentile of each experiment."""
    assert documented("When blocks begin") == stated(LIMITS, of)


def test_the_chip_hands_out_a_block_in_more_than_a_cycle():
    """In the chip's rows 132 SMs whose blocks end at once begin one each 145 to 153 cycles, where slots are free."""
    for row in of("refill"):
        if row.resident > 1:
            later = row.begins[len(row.begins) // 2 :]
            assert 145 <= (later[-1] - later[0]) / (len(later) - 1) <= 153
            assert row.blocks == SMS


@pytest.mark.jit
def test_second_blocks_begin_behind_the_first(module):
    """Of two blocks of 1 to 16 warps on each SM the last warp's first clock is within three cycles of the chip's."""
    for row in of("params"):
        if row.resident == 2 and row.warps <= 16:
            assert simulated(module, row)[0][0] == pytest.approx(row.begins[0], abs=3)


@pytest.mark.jit
def test_the_first_warps_of_blocks_share_no_scheduler(module):
    """16 blocks of 4 warps, whose first warp alone works, take less than 1.5 times as long as one, on both."""
    one, many = (next(row for row in of("begin_first_store") if row[1:3] == (4, count)) for count in (1, 16))
    assert max(many.ends[:16]) < 1.5 * one.ends[0]
    assert max(simulated(module, many)[1][:16]) < 1.5 * simulated(module, one)[1][0]
