import msgspec
import pytest

from gpusim.analysis.account.figures import Figures, figures
from gpusim.analysis.account.stalls import lost_slots
from gpusim.machine.machine import load
from gpusim.simulation.simulation import simulate
from workloads.catalog import make

SMALL = {
    "sgemm-lai": {"m": "96", "n": "96", "k": "16"},
    "throughput": {"length": "32", "iterations": "2"},
}


@pytest.mark.jit
@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("machine", ["gtx580", "gtx680", "h200"])
def test_used_and_lost_slots_are_the_cycles(name, machine):
    """Cycles of used issue slots and cycles lost by reason add up to the cycles of the run."""
    result = simulate(make(name, SMALL[name]), load(machine), values=False)
    found = figures(result)
    assert found.cycles == result.cycles
    assert found.used + sum(found.lost.values()) == pytest.approx(result.cycles)
    assert 0 < found.used <= result.cycles
    schedulers = load(machine).schedulers.count
    assert found.lost == pytest.approx({r: slots / schedulers for r, slots in lost_slots(result.run).items()})
    assert sum(found.stalls.values()) == pytest.approx(100)
    assert max(found.limits.values()) == pytest.approx(100 * result.bound.cycles / result.cycles)


@pytest.mark.jit
def test_the_parts_of_an_estimate_add_up():
    """If 8 blocks are simulated for all, used and lost cycles add up to the scaled cycles of the launch."""
    kernel = make("sgemm-lai", {"m": "960", "n": "960", "k": "16"})
    result = simulate(kernel, load("gtx580", {"chip.sms": 1}), values=False, sample=8)
    assert result.cycles > result.run.cycles
    found = figures(result)
    assert found.used + sum(found.lost.values()) == pytest.approx(result.cycles)


@pytest.mark.jit
def test_figures_survive_json():
    """Figures that are written as JSON and read again are the same, to the last bit."""
    found = figures(simulate(make("chain", {"length": "32"}), "gtx580", values=False))
    assert msgspec.json.decode(msgspec.json.encode(found), type=Figures) == found
