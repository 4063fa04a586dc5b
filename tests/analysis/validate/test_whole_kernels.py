import numpy as np
import pytest
from draws import few

from gpusim.analysis.validate import kernels as whole
from gpusim.analysis.validate.profiler import L1_LOADED, L1_STORED, profiles
from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.machine.simulated_sms import mean
from workloads.measured.whole import clocks, launch, tables

WARM = load("h200", whole.WARM)
PROFILES = profiles("h200")
SHORT = ["saxpy", "stencil3", "reduce_shfl", "transpose_nopad", "hist_uniform", "softmax_row", "scan_hs"]


def timed(name, configuration):
    """Return a launch as it is compared."""
    return whole.Timed(name, configuration, 1000.0, 0.01)


def kernel_of(one):
    """Return the kernel of a launch."""
    return launch.kernel(one.kernel, one.configuration)


@pytest.mark.long
@pytest.mark.jit
def test_a_launch_is_timed_by_the_kernel_s_own_clocks():
    """A block alone takes what its warps read from the clock, an SM from the first entry to the last exit."""
    jobs = [timed("saxpy", each) for each in ("solo", "resident")]
    found = {
        one.timed.configuration: one for one in whole.compared(jobs, WARM, PROFILES, kernel_of, clocks.recorded, 1)
    }
    for configuration, one in found.items():
        kernel = launch.kernel("saxpy", configuration)
        run = run_sm(kernel, mean(WARM))
        entries, exits = clocks.recorded(kernel, run.memory, range(run.first_sm, kernel.blocks, 132)).T
        assert one.simulated.cycles == exits.max() - entries.min()
        assert one.simulated.blocks_of_sm == len(entries) == run.blocks
        assert one.error == one.simulated.cycles / 1000 - 1
        assert one.simulated.flops == kernel.flops
    assert found["solo"].profile is PROFILES["saxpy", "solo"]
    assert found["resident"].profile is None


@pytest.mark.jit
@pytest.mark.parametrize("name", few(SHORT, 2))
def test_instructions_are_ncu_s_and_shares_add_up(name):
    """A block issues what ncu counted; the shares of stall reasons are all of its warps' time."""
    (one,) = whole.compared([timed(name, "solo")], WARM, PROFILES, kernel_of, clocks.recorded, 1)
    assert one.simulated.counters == {"instructions": one.profile.counters["instructions"]}
    assert sum(one.simulated.stalls.values()) == pytest.approx(1)


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("name", [*SHORT, "sgemm_naive_u4", "poly_ilp2", "bitonic"])
def test_sectors_of_a_grid_are_those_that_ncu_counted(name):
    """The sectors that loads and stores touch in the L1 are ncu's, to the last one."""
    found = whole._l1_sectors(launch.kernel(name, "full"))
    counted = PROFILES[name, "full"].counters
    assert found == {each: counted[each] for each in (L1_LOADED, L1_STORED)}


@pytest.mark.jit
def test_the_median_is_of_blocks():
    """Of several blocks with their own clocks the median counts, and for an SM all together."""
    clocks_of = np.array([[10, 20], [11, 31], [12, 62]])
    assert whole._cycles(clocks_of, of_blocks=True) == 20
    assert whole._cycles(clocks_of, of_blocks=False) == 52


def test_the_configurations_are_those_of_the_tables():
    """The launches that are compared have the names of the timed ones."""
    assert whole.CONFIGURATIONS == tables.CONFIGURATIONS
