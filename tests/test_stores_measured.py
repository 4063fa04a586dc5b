"""Stores that join each other in an SM, and atomics that end a launch: as an H200 had them (h200_stores.csv), and here.

`store_lines`, `store_wait` and `store_line_wait` of `[l2_channel]` were read off `one_warp`, `whole_parts` and
`real_parts` of `[l2_atomic]` off `update` with one word and two; `slice_ahead` was fitted to `strided` and `pitched`;
the other rows were in sight.
"""

import pytest
from draws import few
from measured_limits import by_experiment, documented, module_of, some, stated, within
from store_rows import code, error, rows

# Percent: the median error and the 95th percentile, as reached in November 2026, rounded up.
LIMITS = {
    "one_warp": (0.1, 15),
    "warps": (12, 28),
    "all_sms": (11, 34),
    "shared": (2.4, 11),
    "shared_all": (10, 17),
    "widths": (1.6, 24),
    "update": (7.5, 35),
    "strided": (7, 26),
    "pitched": (5, 17),
}
of = by_experiment(rows)


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """The cubin as a module."""
    return module_of(tmp_path_factory.mktemp("cubin"), code())


@pytest.mark.jit
@pytest.mark.parametrize("experiment", few(LIMITS, 2))
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
    assert documented("Stores that join each other") == stated(LIMITS, of)


def test_an_atomic_waits_for_the_one_before_on_its_word():
    """32 lanes of a word take 46 cycles, of two words 23, real numbers 111 and 55, of 32 bits as of 64, within 3 %."""
    for kernel, cycles in (("red", 46), ("red64", 46), ("atom", 46), ("redf", 111), ("redf64", 111), ("redh2", 111)):
        found = sorted((row.cycles / (132 * 8 * 8) for row in of("update") if row.kernel == kernel), reverse=True)
        assert found[:3] == pytest.approx([cycles, cycles / 2, cycles / 2], rel=0.03)
