"""How near the bound comes to the simulated cycles, on kernels that were run on an H200."""

import pytest

from benchmarks.bound import BUSY, NEAR, results
from gpusim.analysis.account.rates.utilisation import utilisation

# Which words of shared memory bitonic's threads exchange depends on what others left there: the fewest count.
REACHED = {"bitonic": 0.78}


@pytest.mark.long
@pytest.mark.jit
def test_copies_keep_the_unit_shorter_than_their_passes():
    """Where special registers and skipped accesses go past the passes of copies, the bound stays below the run."""
    ((_, result),) = results("^mm_f16_32x64x32_w2s3_M$")
    assert 0.9 < result.bound.cycles / result.cycles <= 1
    assert result.bound.limiter == "load/store unit"


@pytest.mark.slow
@pytest.mark.jit
def test_the_bound_is_near_where_a_resource_is_busy():
    """Of 21 kernels in full grids and 58 Triton launches it is 80 % of the cycles where something is 90 % busy."""
    for name, result in results(""):
        assert result.bound.cycles <= result.cycles, name
        if max(utilisation(result).values()) > BUSY:
            assert result.bound.cycles >= REACHED.get(name, NEAR) * result.cycles, name
