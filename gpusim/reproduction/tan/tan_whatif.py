"""What section 5.3 of Tan et al., DGEMM on Fermi (SC 2011), asks of future chips, tried on machines changed so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gpusim.machine import machine as model
from gpusim.machine.machine import peak_fp64_gflops, peak_gflops
from gpusim.reproduction.bench import Bench, Measurement, Pairs, Run
from gpusim.reproduction.finding import Finder, Finding, analytic, fitted, given, in_sight, predicted, registrar
from gpusim.reproduction.main_loop import main_loop
from gpusim.reproduction.tan.tan import DOUBLE, OTHER, shared_gbs
from gpusim.simulation.simulation import simulate
from gpusim.sm.front.policies.declaration import POLICY_NAMES, register_policy
from gpusim.sm.jit.rule import lowest_bit
from gpusim.sm.unit.opcodes import UNIT_CODE
from isa.kernel import Kernel
from isa.row import Unit
from workloads.catalog import make

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)

BOARD, LATER = "c2050", "gtx460"
SIDE = 1792
SMALLER = {"m": 896, "n": 896, "k": 896}  # where nothing is fast-forwarded: 14 blocks on each SM
MORE_REGISTERS: Mapping[str, object] = {"limits.registers_per_thread": 255}
TWICE_SHARED: Mapping[str, object] = {"shared_memory.pass_cycles": 1}
TOGETHER: Mapping[str, object] = {"double.exclusive": "off"}
MIX = {"ratio": "3:1", "lds": 32}  # 48 FFMAs and 16 loads a cycle are what an SM of a GTX 460 takes
BOUND = 75.07  # percent of peak, by the share of DFMAs
OWN_POLICY = "memory-first"
DFMA = UNIT_CODE[Unit.DP]


@claim("TN57")
def larger_blocking(bench: Bench) -> Finding:
    """Version 2 with 8 by 8 values a thread where a thread may have 255 registers, and with 4 by 4."""
    eight, four = bench.runs(_dgemm({"variant": "v2", "blocking": 8}, MORE_REGISTERS), _dgemm({"variant": "v2"}))
    plain = [{"variant": "alg1", "blocking": size} for size in (8, 4)]
    with_64 = bench.runs(_dgemm(plain[0], MORE_REGISTERS), _dgemm(plain[1]))
    shown = " and ".join(f"{run.percent_of_peak:.1f}" for run in with_64)
    note = f"{eight.warps} and {four.warps} warps on an SM, whose registers are as many; algorithm 1, 64 bits: {shown}"
    ours = f"{eight.percent_of_peak:.1f} v. {four.percent_of_peak:.1f}"
    return predicted(ours, note=note, passed=eight.percent_of_peak > four.percent_of_peak)


@claim("TN58")
def least_blocking(bench: Bench) -> Finding:
    """The register blocking that twice the shared memory's bandwidth can feed, by the formula of TN06."""
    machine = bench.machine(BOARD, TWICE_SHARED)
    least = peak_fp64_gflops(machine) * DOUBLE / shared_gbs(machine)
    return analytic(f"{least:.0f}", note="passes of one cycle in place of two", passed=least < 4)


@claim("TN59")
def blocking_with_twice_the_bandwidth(bench: Bench) -> Finding:
    """Algorithm 1 with 2 by 2 values a thread and twice the bandwidth, beside 4 by 4 with the chip's."""
    choices = [{"variant": "alg1", "blocking": size} for size in (2, 4)]
    before = bench.runs(*(_dgemm(choice) for choice in choices))
    after = bench.runs(*(_dgemm(choice, TWICE_SHARED) for choice in choices))
    (two, four), (two_now, four_now) = (_percents(runs) for runs in (after, before))
    share = _share_of_dfmas(bench.kernel("dgemm-tan", **choices[0]))
    note = (
        "that 2 by 2 would be as fast is our reading: the paper says that less blocking is needed, see TN58; "
        f"2 by 2 has {two_now:.1f} with the chip's bandwidth and 4 by 4 {four:.1f} with twice as much; the share of "
        f"DFMAs bounds 2 by 2 at {share:.0f} %, which bandwidth does not lift"
    )
    ours = f"{two:.1f} v. {four_now:.1f}"
    return in_sight("what is compared: at first, the gains of both", ours, note=note, passed=two >= four_now)


@claim("TN60")
def instructions_of_a_gtx_460(bench: Bench) -> Finding:
    """Thread instructions per cycle and SM of three FFMAs to a load from shared memory, over those of the C2050."""
    later, board = bench.runs(*(Run("mix", machine, MIX, values=False) for machine in (LATER, BOARD)))
    ports = [bench.machine(key).schedulers.dispatch_ports for key in (LATER, BOARD)]
    note = (
        f"{later.rate:.1f} and {board.rate:.1f}; {ports[0]} and {ports[1]} dispatch ports of a scheduler could issue "
        f"{32 * ports[0]} and {32 * ports[1]}; the C2050 loses slots to refused loads"
    )
    return predicted(later.rate / board.rate, note=note)


@claim("TN61")
def memory_with_double_precision(bench: Bench) -> Finding:
    """Version 4 where double precision issues beside other instructions: above the bound by the share of DFMAs."""
    after, before = bench.runs(_dgemm({"variant": "v4"}, TOGETHER), _dgemm({"variant": "v4"}))
    note = f"v. {before.percent_of_peak:.1f}; the bound by the share of DFMAs is {BOUND}"
    ours = f"{after.percent_of_peak:.1f} %"
    seen = "the same setting, with plain loads, in docs/calibration.md before"
    return in_sight(seen, ours, note=note, passed=after.percent_of_peak > max(BOUND, before.percent_of_peak))


@claim("TN62")
def version_4_on_a_gtx_460(bench: Bench) -> Finding:
    """Version 4's share of the peak of a GTX 460, in double precision, beside the C2050's: put in by its lanes."""
    later, board = bench.runs(_dgemm({"variant": "v4"}, machine=LATER), _dgemm({"variant": "v4"}))
    lanes = bench.machine(LATER).pipe["dp"].lanes
    note = (
        f"whose SM has {lanes} lanes of double precision, a quarter of the C2050's, so that its peak is nearer anyway"
    )
    ours = f"{later.percent_of_peak:.1f} v. {board.percent_of_peak:.1f}"
    return given(ours, note=note, passed=later.percent_of_peak > board.percent_of_peak)


@claim("TN63")
def other_schedulers(bench: Bench) -> Finding:
    """Version 4 under the chip's policy, the others, and one of our own that issues what is no DFMA first."""
    own = bench.compute(under_own_policy, BOARD, bench.pairs(BOARD))
    choice = {"variant": "v4", **SMALLER}
    runs = bench.runs(*(_dgemm(choice, {"schedulers.policy": name}) for name in POLICY_NAMES))
    found = dict(zip(POLICY_NAMES, (run.percent_of_peak for run in runs), strict=True)) | {OWN_POLICY: own}
    chips = bench.machine(BOARD).schedulers.policy
    others = {name: percent for name, percent in found.items() if name != chips}
    best = max(others, key=others.__getitem__)
    note = ", ".join(f"{name} {percent:.1f}" for name, percent in found.items())
    note = f"% of peak: {note}; the chip's is {chips}, fitted with plain loads"
    gain = others[best] - found[chips]
    what_counts = "what counts as room: 1 point, chosen after a gain of 0.04 was seen"
    return in_sight(what_counts, f"{gain:+.2f} points", note=note, passed=gain >= 1)


@claim("TN64")
def conflicts_of_128_bits(bench: Bench) -> Finding:
    """Cycles of an LDS.128 of a warp's own addresses, over those of as many bytes at a pass for every 128."""
    machine = bench.machine(BOARD)
    shared = machine.shared_memory
    cycles = 32 / bench.point(BOARD, "rate-lds.128")
    least = 32 * 16 / (shared.banks * shared.bank_bytes) * shared.pass_cycles
    by = "1 parameter on RR-7923: LDS.128 of 32 addresses takes 16 cycles"
    return fitted(by, f"{cycles / least:.1f}", note=f"{cycles:.0f} cycles for {least:.0f}", passed=cycles >= 2 * least)


@claim("TN65")
def shared_bandwidth_by_generation(bench: Bench) -> Finding:
    """Bytes of shared memory per operation of the peak, of Fermi over GT200: in double precision, and in single."""
    new, old = bench.machine(BOARD), bench.machine(OTHER)
    double, single = (
        shared_gbs(new) / peak(new) / (shared_gbs(old) / peak(old)) for peak in (peak_fp64_gflops, peak_gflops)
    )
    note = f"in double precision; {single:.2f} in single, whose peak counts multiply-adds"
    return analytic(f"{double:.2f}", note=note, passed=max(double, single) < 1)


def under_own_policy(machine: str, settings: Pairs) -> float:
    """Return version 4's percent of peak under a policy that issues what is no DFMA first."""
    register_policy(OWN_POLICY, memory_first)
    own = model.load(machine, {**dict(settings), "schedulers.policy": OWN_POLICY})
    size = {name: str(side) for name, side in SMALLER.items()}
    return simulate(make("dgemm-tan", {**size, "variant": "v4"}), own, values=False).percent_of_peak or 0.0


def memory_first(sm: Any, k: int, eligible: int) -> int:
    """Return the oldest eligible warp of scheduler k whose instruction is no DFMA, else the oldest of all."""
    best, first, others = lowest_bit(eligible), -1, 0
    while eligible:
        j = lowest_bit(eligible)
        eligible &= eligible - 1
        warp = sm.warps[j * sm.machine.schedulers + k]
        other = 1 if warp.unit != DFMA else 0
        if other > others or first < 0 or (other == others and warp.order < first):
            best, first, others = j, warp.order, other
    return best


def _percents(runs: Iterable[Measurement]) -> list[float]:
    return [run.percent_of_peak for run in runs]


def _share_of_dfmas(kernel: Kernel) -> float:
    """DFMAs in percent of all instructions of a round of the main loop."""
    loop = main_loop(kernel.program)
    return 100 * sum(i.row.unit is Unit.DP for i in loop) / len(loop)


def _dgemm(choice: Mapping[str, object], settings: Mapping[str, object] | None = None, machine: str = BOARD) -> Run:
    size = {"m": SIDE, "n": SIDE, "k": SIDE}
    return Run("dgemm-tan", machine, {**size, **choice}, settings or {}, values=False)
