"""The claims of RR-7923 about its SGEMM, on the card that it measured and on Kepler as it speculated (LS47 to LS62)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from gpusim.machine.machine import bandwidth_gbs
from gpusim.reproduction.bench import NONE, Bench, Measurement, Run
from gpusim.reproduction.claims import published
from gpusim.reproduction.finding import (
    Finder,
    Finding,
    analytic,
    arithmetic,
    counted,
    in_sight,
    not_reproducible,
    registrar,
)
from gpusim.reproduction.lai import equations
from gpusim.reproduction.lai.lai_bound import BLOCKING, THREADS, sgemm_occupancy
from gpusim.reproduction.lai.lai_table import CARD, KEPLER, SPECULATED, rate_between
from gpusim.sm.pipes.pipe.declaration import lanes
from isa.row import Unit

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)
SIZE = 4800
LAYOUTS = "nn", "tn", "nt", "tt"  # in the order of the report's abstract
RATES = "LS47", "LS48", "LS49", "LS50"  # the claims with their GFLOP/s
WIDTHS = 32, 64, 128
NAMES = {32: "LDS", 64: "LDS.64", 128: "LDS.128"}
SWEEP = range(480, SIZE + 1, 480)
KEPLER_SIZE = {"m": 1920, "n": 1920, "k": 480}
REAL_KEPLER = "gtx680"
SIGHT = "launch.warp_skew; schedulers.policy and issue.rotate; instruction_replay"  # chosen with these rates in view
PREMISES = "the machine, which is made of the report's own premises"


def sgemm(size: int = SIZE, settings: Mapping[str, object] = NONE, **parameters: object) -> Run:
    """Return the run of a square SGEMM on the card that was measured."""
    return Run("sgemm-lai", CARD, {"m": size, "n": size, "k": size, **parameters}, settings)


def _gflops(bench: Bench, runs: Sequence[Run]) -> list[float]:
    return [run.gflops for run in bench.runs(*runs)]


def layouts(bench: Bench) -> list[float]:
    """Return GFLOP/s of the four layouts at SIZE, in the order of LAYOUTS."""
    return _gflops(bench, [sgemm(layout=layout, order="interleaved") for layout in LAYOUTS])


def _layout(bench: Bench, which: int) -> Finding:
    (found,) = bench.runs(sgemm(layout=LAYOUTS[which], order="interleaved"))
    return in_sight(SIGHT, found.gflops, note="values checked" if found.checked else "values not checked")


@claim("LS47")
def sgemm_nn(bench: Bench) -> Finding:
    """NN."""
    return _layout(bench, 0)


@claim("LS48")
def sgemm_tn(bench: Bench) -> Finding:
    """TN."""
    return _layout(bench, 1)


@claim("LS49")
def sgemm_nt(bench: Bench) -> Finding:
    """NT."""
    return _layout(bench, 2)


@claim("LS50")
def sgemm_tt(bench: Bench) -> Finding:
    """TT."""
    return _layout(bench, 3)


def _order(names: Sequence[str], rates: Sequence[float]) -> str:
    return " > ".join(name for _, name in sorted(zip(rates, names, strict=True), reverse=True))


@claim("LS51")
def order_of_layouts(bench: Bench) -> Finding:
    """The four layouts by their rates, and again without what may separate NN from TT, and TN from the others."""
    variants = _of_variants(bench)
    orders = [_order([layout.upper() for layout in LAYOUTS], rates) for rates in variants]
    spreads = [100 * (max(rates) / min(rates) - 1) for rates in variants]
    note = (
        f"spread {spreads[0]:.1f} %, published 1.4 %, of which 0.2 % part NN from TT. With order=base, as the report "
        f"does not print how it spreads the prefetch: {orders[1]}; with issue.refused_wastes_slot=0: {orders[2]}; "
        "without the slot for the second line of a transposed load, instruction_replay.request_slots=0: "
        f"spread {spreads[3]:.1f} %"
    )
    return in_sight(SIGHT, orders[0], note=note, passed=orders[0] == "NT > NN > TT > TN" and 0.5 <= spreads[0] <= 3)


def _of_variants(bench: Bench) -> list[list[float]]:
    """Return the rates of the four layouts as they are, and with one thing changed at a time."""
    interleaved = "interleaved"
    variants: list[tuple[str, Mapping[str, object]]] = [
        (interleaved, {}),
        ("base", {}),
        (interleaved, {"issue.refused_wastes_slot": 0}),
        (interleaved, {"instruction_replay.request_slots": 0}),
    ]
    count = len(LAYOUTS)
    runs = [sgemm(settings=settings, layout=x, order=order) for order, settings in variants for x in LAYOUTS]
    rates = _gflops(bench, runs)
    return [rates[start : start + count] for start in range(0, len(rates), count)]


@claim("LS52")
def best_efficiency(bench: Bench) -> Finding:
    """The best layout."""
    found = bench.runs(*(sgemm(layout=layout, order="interleaved") for layout in LAYOUTS))
    return in_sight(SIGHT, max(run.percent_of_peak for run in found), note="1173 of 1604 GFLOP/s are 73.1 %")


def published_rates() -> list[float]:
    """Return the GFLOP/s that the report gives, in the order of LAYOUTS."""
    return [published(name)[0].value or 0.0 for name in RATES]


@claim("LS53")
def implied_cublas(_: Bench) -> Finding:
    """The published rates over the published speed-ups: NN, TN, NT, TT."""
    gains = [figure.value or 0.0 for figure in published("LS54")]
    rates = (rate / (1 + gain / 100) for rate, gain in zip(published_rates(), gains, strict=True))
    return arithmetic(*rates, note="derived, not printed: LS47 to LS50 over the speed-ups of LS54")


@claim("LS54")
def speed_up(bench: Bench) -> Finding:
    """Ours over the rates that the report implies for CUBLAS."""
    implied = [figure.value or 1.0 for figure in published("LS53")]
    gains = [100 * (rate / base - 1) for rate, base in zip(layouts(bench), implied, strict=True)]
    ours = " / ".join(f"{gain:.1f}" for gain in gains)
    return not_reproducible("the code of CUBLAS 4.1 is not published", ours, "ours over the rates of LS53")


@claim("LS55")
def order_of_widths(bench: Bench) -> Finding:
    """NT with each width of the shared loads; 128 bits leave no registers for the prefetch."""
    rates = _gflops(bench, [sgemm(lds=width, order="interleaved") for width in WIDTHS])
    shown = ", ".join(f"{NAMES[width]} {rate:.0f}" for width, rate in zip(WIDTHS, rates, strict=True))
    return in_sight(SIGHT, _order([NAMES[width] for width in WIDTHS], rates), note=f"GFLOP/s: {shown}")


@claim("LS56")
def reordering(bench: Bench) -> Finding:
    """The gain of each reordering of section 4.2 in the program that has the other one, in all layouts."""
    orders = "interleaved", "addresses", "prefetch", "base"
    rates = _gflops(bench, [sgemm(layout=layout, order=order) for order in orders for layout in LAYOUTS])
    both, addresses, prefetch, base = (rates[start : start + 4] for start in range(0, 16, 4))
    gains = {
        "addresses": [100 * (rate / without - 1) for rate, without in zip(both, prefetch, strict=True)],
        "prefetch": [100 * (rate / without - 1) for rate, without in zip(both, addresses, strict=True)],
    }
    total = [100 * (rate / without - 1) for rate, without in zip(both, base, strict=True)]
    shown = "; ".join(f"{name} {min(each):+.2f} to {max(each):+.2f} %" for name, each in gains.items())
    note = f"each taken out of the program that has both; both together {min(total):+.2f} to {max(total):+.2f} %"
    return in_sight(SIGHT, shown, note=note, passed=min(map(min, gains.values())) > 0)


@claim("LS57")
def memory_demand(bench: Bench) -> Finding:
    """Bytes of global memory over the time of the run, without caches."""
    (found,) = bench.runs(sgemm(layout="nt", order="interleaved"))
    have = bandwidth_gbs(bench.machine(CARD))
    demand = have * found.limits["memory bandwidth"] / found.cycles
    return in_sight(
        SIGHT, f"{demand:.1f} of {have:.1f} GB/s", note="bytes counted, time simulated", passed=demand < have
    )


@claim("LS58")
def threads_on_kepler(bench: Bench) -> Finding:
    """Occupancy of the kernel of 63 registers."""
    return counted(32 * sgemm_occupancy(bench, KEPLER).warps)


@claim("LS59")
def memory_bound_of_kepler(bench: Bench) -> Finding:
    """Equations 8 and 10."""
    tile = equations.shared_blocking(THREADS, BLOCKING)
    note = "the GFLOP/s are derived, not printed: equation 10 with table 1's bandwidth, as in LS32"
    return analytic(tile, equations.memory_bound(bandwidth_gbs(bench.machine(KEPLER)), tile), note=note)


@claim("LS60")
def mix_on_kepler(bench: Bench) -> Finding:
    """FFMAs of the mix 3 to 1 with LDS over those of the SPs."""
    parameters = {"ratio": "3:1", "lds": 32, "warps": 32}
    short, long = bench.runs(*(Run("mix", KEPLER, {**parameters, "iterations": i}, values=False) for i in (16, 64)))
    peak = lanes(bench.machine(KEPLER), Unit.FP32)
    return in_sight(PREMISES, 100 * rate_between("FFMA", short, long) / peak, note=SPECULATED)


@claim("LS61")
def sgemm_on_kepler(bench: Bench) -> Finding:
    """SGEMM with each width, on Kepler as speculated, and on the chip as it was measured later."""
    runs = [Run("sgemm-lai", key, {**KEPLER_SIZE, "lds": w}) for key in (KEPLER, REAL_KEPLER) for w in WIDTHS]
    found = bench.runs(*runs)
    speculated, real = _percentages(found[:3]), _percentages(found[3:])
    note = f"{SPECULATED}. The chip as measured since, in the same order: {real}"
    return in_sight(PREMISES, speculated, note=note, passed=all(run.percent_of_peak < 50 for run in found[:3]))


def _percentages(found: Sequence[Measurement]) -> str:
    return " / ".join(f"{run.percent_of_peak:.1f}" for run in found) + " %"


@claim("LS62")
def sizes(bench: Bench) -> Finding:
    """Square NT products from 480 to 4800: no size is 2 % slower than the one before, the last three are alike."""
    rates = over_sizes(bench)
    rising = all(after > 0.98 * before for before, after in pairwise(rates))
    level = max(rates[-3:]) < 1.01 * min(rates[-3:])
    shown = " / ".join(f"{rate:.0f}" for rate in rates)
    note = "sizes 480 to 4800 by 480; the plot has no numbers in text"
    choices = f"{SIGHT}; the 2 % by which a size may be slower"
    return in_sight(choices, shown, note=note, passed=rising and level)


def over_sizes(bench: Bench) -> list[float]:
    """Return GFLOP/s of square NT products of the sizes of SWEEP."""
    return _gflops(bench, [sgemm(size, layout="nt", order="interleaved") for size in SWEEP])
