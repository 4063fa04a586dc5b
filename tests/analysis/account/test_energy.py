"""Joules by hand, and the two powers to which the MI60's energies are fitted."""

from __future__ import annotations

import pytest
from msgspec import structs

from gpusim.analysis.account.rates.energy import KEYS, known, spent, voltage_squared
from gpusim.engines.walks.traffic import Level, Traffic, traffic
from gpusim.machine.machine import Machine, load
from isa.errors import UserError
from isa.text.listing import read
from workloads.catalog import make

COSTS = {
    "single": 1000,
    "double": 3000,
    "register": 100,
    "scalar_register": 50,
    "shared": 200,
    "l1": 300,
    "l2": 5000,
    "dram": 7000,
}


def machine(**settings: int) -> Machine:
    """Return an MI60 at the clock of its energies, with these costs in femtojoules and others replaced."""
    mi60 = load("mi60", {"chip.shader_mhz": 1700})
    return structs.replace(mi60, energy=structs.replace(known(mi60), **COSTS, idle_mw=10_000, **settings))


def scaled() -> Traffic:
    """Return the traffic of a wave that loads a word per lane, squares it and stores it."""
    text = """
.warp 64
.buffer x f32 64 = hash 1
.flops 64
    S2R v0, TID.X
    V_LSHLREV_B32 v0, 2, v0
    V_ADD_U32 v0, v0, c[x]
    GLOBAL_LOAD_DWORD v1, v0, off
    S_WAITCNT vmcnt(0)
    V_MUL_F32 v1, v1, v1
    GLOBAL_STORE_DWORD v0, v1, off
"""
    return traffic(read(text))


def test_joules_are_counts_times_costs() -> None:
    """64 threads each access 12 register words, move two words through L1, L2 and DRAM and multiply once, in 1 us."""
    found = spent(scaled(), machine(), 1e-6)
    of = {part.name: part for part in found.parts}
    assert {name: part.count for name, part in of.items()} == {
        "single precision": 64,
        "registers": 12 * 64,
        "L1": 128,
        "L2": 128,
        "DRAM": 128,
    }
    femtojoules = 64 * (1000 + 12 * 100 + 2 * 300 + 2 * 5000 + 2 * 7000)
    assert found.joules == pytest.approx(femtojoules * 1e-15)
    assert sum(part.joules for part in found.parts) == pytest.approx(found.joules)
    assert sum(part.share for part in found.parts) == pytest.approx(1)
    assert of["L2"].picojoules == 5
    assert found.picojoules_per_flop == pytest.approx(femtojoules / 64 / 1000)
    assert found.watts == pytest.approx(10 + found.joules / 1e-6)


def test_an_idle_launch_takes_only_idle_power() -> None:
    """A launch that neither computes nor moves anything takes only the idle power, 10 W."""
    found = spent(traffic(read("EXIT")), machine(), 1.0)
    assert (found.parts, found.joules, found.picojoules_per_flop, found.watts) == ((), 0, 0, 10)


def test_energies_and_idle_power_go_with_the_square_of_the_voltage() -> None:
    """At half the clock and a slope of one half the voltage is 3/4, and joules and watts are 9/16."""
    full = spent(scaled(), machine(voltage_slope=500), 1.0)
    mi60 = machine(voltage_slope=500)
    slow = structs.replace(mi60, chip=structs.replace(mi60.chip, shader_mhz=850))
    half = spent(scaled(), slow, 1.0)
    assert half.joules == pytest.approx(9 / 16 * full.joules)
    assert half.watts == pytest.approx(9 / 16 * full.watts)


def test_without_a_slope_the_voltage_is_constant() -> None:
    """With a slope of 0 the energies at any clock are those of the file."""
    costs = structs.replace(known(load("mi60")), voltage_slope=0)
    assert voltage_squared(costs, 300) == 1


def test_every_level_has_a_cost() -> None:
    """Each level of the traffic takes a key of the section."""
    assert set(KEYS) == set(Level)
    assert set(KEYS.values()) <= set(COSTS)


def test_a_machine_without_energies_says_so() -> None:
    """The error names the machine, and what to add."""
    with pytest.raises(UserError, match=r"^no energies in machine gtx580: add \[energy\] to its file, or take mi60$"):
        spent(scaled(), load("gtx580"), 1.0)


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize(("order", "tflops", "watts"), [("forwarding", 9.5, 265), ("interleaved", 9.18, 284)])
def test_the_energies_of_the_mi60_give_the_fitted_powers(order: str, tflops: float, watts: float) -> None:
    """The two energies in the file give the two powers at 1700 MHz within 0.1 W, 42 W of it idle power."""
    moved = traffic(make("sgemm-vega-vlp", {"m": "4096", "n": "4096", "k": "640", "order": order}), forwarding=True)
    found = spent(moved, load("mi60", {"chip.shader_mhz": 1700}), moved.flops / tflops / 1e12)
    assert found.watts == pytest.approx(watts, abs=0.1)
    assert found.idle_watts == 42


def test_the_voltage_of_the_mi60_meets_its_idle_power() -> None:
    """The idle power of 42 W at 1700 MHz becomes 36 W at 1500 MHz."""
    costs = known(load("mi60"))
    assert costs.idle_mw / 1000 * voltage_squared(costs, 1500) == pytest.approx(36, abs=0.01)


def test_only_machines_for_the_kernels_warps_are_recommended():
    """No machine with warps of 32 lanes has energies, so the error for a kernel of such warps recommends none."""
    with pytest.raises(UserError, match=r"^no energies in machine gtx580: add \[energy\] to its file$"):
        known(load("gtx580"), 32)


def test_each_energy_says_how_it_is_known():
    """Every part of the work has the method that the machine's file gives for its key."""
    parts = spent(scaled(), machine(), 1.0, {key: f"method of {key}" for key in COSTS}).parts
    assert {part.name: part.method for part in parts}["registers"] == "method of register"
    assert all(part.method.startswith("method of ") for part in parts)
