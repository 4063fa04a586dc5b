"""The account of memory beside ncu's counters of textbook kernels on an H200."""

import pytest
from draws import few

from benchmarks.memory import textbook
from benchmarks.memory.textbook import COMPARED, NEAR
from gpusim.analysis.validate.kernels import WARM
from gpusim.machine.machine import load

pytestmark = pytest.mark.jit
KERNELS = "transpose_naive", "gather_lines", "scan_naive", "rows_product", "stream_add", "softmax_rows", "dct_columns"
COUNTERS = [one for one in COMPARED if one not in {"dram_read_bytes", "dram_written_bytes"}]


@pytest.mark.parametrize("kernel", few(list(KERNELS), 2))
def test_sectors_of_l1_and_l2_are_those_of_the_profiler(kernel):
    """Sectors loaded and stored, hits of the L1, and what the L2 reads and writes are within 3 % of ncu's."""
    (launch,) = (one for one in textbook.launches() if (one.kernel, one.size) == (kernel, "small"))
    done = textbook.outcome(launch, load("h200", WARM))
    found = {counter: done.off(counter) for counter in COUNTERS}
    assert any(off is not None for off in found.values())
    assert all(off is None or abs(off) <= NEAR for off in found.values())
