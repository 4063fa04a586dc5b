"""The claims of CME213, lecture 9 (Stanford, 2012), on a GeForce GTX 480.

Its matrices are those of the CUDA samples, A 960 by 640 and B 640 by 640, the only ones that fit both of its times. The
naive kernel is swept over blocks of 32 by 1 to 32 by 32 threads; if these don't divide C's rows, C has a few more.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from gpusim.bounds.chain.access_cost import AccessCost, costs
from gpusim.engines.walks.profile import profile
from gpusim.launch.ground import ground
from gpusim.machine.machine import bandwidth_gbs, peak_gflops, seconds
from gpusim.reproduction.bench import Bench, Measurement, Run
from gpusim.reproduction.claims import published
from gpusim.reproduction.finding import Finder, Finding, analytic, arithmetic, counted, given, in_sight, registrar
from gpusim.reproduction.gf100 import OF_THE_CARD, WITH_TAGS
from gpusim.reproduction.lai import equations
from gpusim.sm.pipes.pipe.declaration import lanes
from isa.kernel import WARP_SIZE, Kernel
from isa.operands.operand import Constant
from isa.row import Unit

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)

CARD = "gtx480"
NAIVE, BLOCK, CUBLAS = "matmul-naive", "matmul-block", "gemm-stencil"
SIZES = {"m": 960, "n": 640, "k": 640}
COLUMN_MAJOR = {"m": 640, "n": 960, "k": 640}  # the same product for a kernel with column-major matrices
OF_NAIVE = f"{OF_THE_CARD}; instructions and registers of the naive kernel"
OF_BLOCK = f"{OF_THE_CARD}; order of shared loads"
TRUE_LATENCY = {"unit.fp32.latency": 24}  # the lecture's
ROWS = range(1, 33)  # of blocks of the sweep
WARPS = range(2, 33, 2)  # among which the fewest that hide a latency are looked for
IN_TURN = {"schedulers.policy": "lrr"}
SHORT = {"k": 64}  # the sweep's: the time of a round hardly changes along k
MIDDLE = {"k": 160}  # the experiments'
NO_TAGS: Mapping[str, object] = {"cache.hits": "none"}
EXPERIMENTS: Sequence[Mapping[str, object]] = (NO_TAGS, {"global_memory.request_cycles": 8})
LAUNCH_BYTES = 32  # of constant bank 0 before a kernel's parameters (sm_20), the block's sides among them
SIDES = {"block_x", "block_y"}
OCCUPANCY = Path(__file__).with_name("cme213_occupancy.csv")
POINTER_BYTES, INTEGER_BYTES = 8, 4


@claim("CM01")
def resources(bench: Bench) -> Finding:
    """Registers, constants and shared memory that the naive kernel's program names."""
    kernel = bench.kernel(NAIVE)
    operands = (operand for instruction in kernel.program.instructions for operand in instruction.operands)
    named = {operand.name for operand in operands if isinstance(operand, Constant)} - SIDES
    pointers = named & {buffer.name for buffer in kernel.buffers}
    constants = LAUNCH_BYTES + POINTER_BYTES * len(pointers) + INTEGER_BYTES * len(named - pointers)
    note = f"constants: {LAUNCH_BYTES} bytes of the launch, {', '.join(sorted(named))}"
    choices = "pointers of 64 bits; a register for each value that is used again, and for the stack"
    return in_sight(choices, kernel.program.registers, constants, kernel.program.shared_bytes, note=note)


@claim("CM02")
def speed_by_occupancy(bench: Bench) -> Finding:
    """Rank correlation of speed with occupancy over 32 to 1,024 threads per block; occupancies must match."""
    found, theirs = sweep(bench), occupancies()
    shares = [run.warps / bench.machine(CARD).limits.warps for run in found]
    correlation = rank_correlation(shares, [run.gflops for run in found])
    same = sum((run.blocks, run.warps) == theirs[WARP_SIZE * rows] for rows, run in zip(ROWS, found, strict=True))
    slow, fast = (pick(zip(found, ROWS, strict=True), key=lambda each: each[0].gflops) for pick in (min, max))
    ends = " to ".join(f"{run.gflops:.0f} GFLOP/s with {WARP_SIZE * rows} threads" for run, rows in (slow, fast))
    note = (
        f"{same} of {len(theirs)} occupancies as the calculator has them for 18 registers; at k = {SHORT['k']} from "
        f"{ends}; all sizes are in the plot cme213-slide-9"
    )
    met = correlation > 0.9 and same == len(theirs)
    return in_sight(f"{OF_NAIVE}; depth of the sweep", f"{correlation:.3f}", note=note, passed=met)


@claim("CM03")
def warps_for_latency(bench: Bench) -> Finding:
    """Warps that hide 24 cycles when each waits for its last instruction, and their share of all warps."""
    warps = _warps(24, bench)
    return _with_knee(bench, 1, warps, warps, 100 * warps / bench.machine(CARD).limits.warps)


@claim("CM04")
def warps_with_independent_instructions(bench: Bench) -> Finding:
    """The same with four independent instructions each."""
    warps = _warps(24, bench) / 4
    return _with_knee(bench, 4, warps, warps, said="derived, as the picture is lost: 24 over 4; ")


@claim("CM05")
def threads_for_latencies(bench: Bench) -> Finding:
    """Threads that hide 18 and 27 cycles."""
    return analytic(*(WARP_SIZE * _warps(latency, bench) for latency in (18, 27)))


@claim("CM06")
def blocks_for_sms(bench: Bench) -> Finding:
    """Blocks per SM of the lecture's launch; small launches show why one or two per SM are too few."""
    sms = bench.machine(CARD).chip.sms
    ratio = bench.kernel(BLOCK, **SIZES).blocks / sms
    each = 1, 2, 4
    one, two, four = found = bench.runs(*(_small(sms * blocks) for blocks in each))
    speeds = ", ".join(f"{run.gflops:.0f} with {blocks}" for blocks, run in zip(each, found, strict=True))
    rules = ratio > 2 and one.gflops < two.gflops < four.gflops
    note = f"per SM, of the lecture's launch; GFLOP/s in blocks of 16 by 16: {speeds} per SM"
    return in_sight(f"{OF_BLOCK}; small launches", f"{ratio:.0f}", note=note, passed=rules)


@claim("CM07")
def naive_at_best(bench: Bench) -> Finding:
    """The naive kernel in the fastest block of full occupancy on all SMs, which share the L2."""
    rows, best = _best(bench)
    tried = (_naive(rows, MIDDLE, settings) for settings in EXPERIMENTS)
    alone, misses, slow = bench.runs(_naive(rows), *tried)
    (at_best,) = published("CM07")
    slots = peak_gflops(bench.machine(CARD)) / (at_best.value or 1.0)
    note = (
        f"{WARP_SIZE} by {rows} threads, on all SMs; of full occupancy the fastest at k = {MIDDLE['k']}. "
        f"{alone.gflops:.0f} where one SM has the L2 to itself, which B exceeds. At k = {MIDDLE['k']} on one SM "
        f"{misses.gflops:.0f} without caches; {slow.gflops:.0f} if each line kept the load/store unit for 8 cycles, "
        f"not 2, a cost of hits for which no source was found. {at_best.value:.0f} would be {slots:.1f} issue slots "
        f"for each product, not 10; {WITH_TAGS}"
    )
    return in_sight(f"{OF_NAIVE}; blocks of full occupancy; all SMs", best.gflops, note=note)


@claim("CM08")
def block_kernel(bench: Bench) -> Finding:
    """The block kernel with loads of shared memory four steps ahead."""
    orders = (Run(BLOCK, CARD, {**SIZES, "ahead": ahead}, values=ahead == 4) for ahead in (4, 1, 8))
    first, one, eight, other = bench.runs(*orders, Run(BLOCK, CARD, {**SIZES, "ahead": 4}, IN_TURN, values=False))
    machine = bench.machine(CARD)
    note = (
        f"values {'right' if first.checked else 'not checked'}; the order of shared loads is not published: 4 steps "
        f"ahead of their sums, {one.gflops:.1f} and {eight.gflops:.1f} with 1 and 8. The policy is that of the C2050, "
        f"the same chip, fitted to Tan SC'11; with the GTX 580's, which was tried first, {other.gflops:.1f}; "
        f"{WITH_TAGS}"
    )
    return in_sight(OF_BLOCK, first.gflops, 1e3 * seconds(machine, first.cycles), note=note)


@claim("CM10")
def size(bench: Bench) -> Finding:
    """Operations of the one product of the CUDA samples' sizes that lasts both printed times at the printed rates."""
    flops = bench.kernel(BLOCK, **SIZES).flops
    printed = [tuple(figure.value or 0.0 for figure in published(name)) for name in ("CM08", "CM09")]
    times = [(flops / rate / 1e6, milliseconds) for rate, milliseconds in printed]
    shown = " and ".join(f"{ours:.3f} ms for the printed {theirs:.2f}" for ours, theirs in times)
    same = all(round(ours, 2) == theirs for ours, theirs in times)
    note = f"derived, not printed: A 960 by 640, B 640 by 640, which at the printed rates take {shown}"
    return arithmetic(flops, note=note, passed=same)


@claim("CM11")
def card(bench: Bench) -> Finding:
    """Bandwidth and peak."""
    machine = bench.machine(CARD)
    return given(bandwidth_gbs(machine), peak_gflops(machine))


@claim("CM12")
def flops_per_word(bench: Bench) -> Finding:
    """Peak over words of four bytes from memory."""
    machine = bench.machine(CARD)
    note = "30.3 is derived, not printed: the slide's peak over its bandwidth in words, of which it prints about 30"
    return analytic(4 * peak_gflops(machine) / bandwidth_gbs(machine), note=note)


@claim("CM13")
def flops_per_loaded_word(bench: Bench) -> Finding:
    """FFMAs and global loads of the block kernel's loop."""
    program = bench.kernel(BLOCK).program
    names = [instruction.row.mnemonic for instruction in program.instructions]
    return counted(2 * names.count("FFMA") / names.count("LDG"))


@claim("CM14")
def shared_cycles(bench: Bench) -> Finding:
    """Two loads from shared memory of one pass each, and one FFMA on all its pipes."""
    machine = bench.machine(CARD)
    return analytic(2 * machine.shared_memory.pass_cycles * lanes(machine, Unit.FP32) / WARP_SIZE)


@claim("CM15")
def accesses_of_the_block_kernel(bench: Bench) -> Finding:
    """A warp's accesses by the rules of the load/store unit."""
    side = 32
    found = _accesses(bench, bench.kernel(BLOCK, m=side, n=side, k=side))
    passes = [cost.passes / cost.executions for cost in found["LDS"]]
    return counted(_transactions(found["LDG"][0]), max(passes[1::2]), max(passes[0::2]))


@claim("CM16")
def accesses_of_the_naive_kernel(bench: Bench) -> Finding:
    """The same for its two loads, that of A first."""
    of_a, of_b = _accesses(bench, bench.kernel(NAIVE, m=8, n=32, k=32))["LDG"]
    return counted(_transactions(of_b), _transactions(of_a))


@claim("CM17")
def ratios(bench: Bench) -> Finding:
    """Block over naive, and CUBLAS over block, with the GEMM stencil in place of CUBLAS."""
    _, naive = _best(bench)
    block, cublas = bench.runs(Run(BLOCK, CARD, {**SIZES, "ahead": 4}), Run(CUBLAS, CARD, COLUMN_MAJOR))
    note = (
        "derived, not printed: CM08 over CM07, and CM09 over CM08; the naive kernel is too fast here, see CM07; "
        f"{WITH_TAGS}"
    )
    choices = f"{OF_NAIVE}; order of shared loads; the kernel in place of CUBLAS"
    return in_sight(choices, block.gflops / naive.gflops, cublas.gflops / block.gflops, note=note)


@cache
def occupancies() -> Mapping[int, tuple[int, int]]:
    """Return blocks and warps of an SM by threads per block: the occupancy calculator's for the lecture's kernel."""
    with OCCUPANCY.open(newline="", encoding="utf-8") as file:
        return {int(row["threads"]): (int(row["blocks"]), int(row["warps"])) for row in csv.DictReader(file)}


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Spearman's rank correlation of two rows of numbers, equal ones sharing their mean rank."""
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def _ranks(values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(sizes) - (sizes - 1) / 2)[group]


def _warps(latency: float, bench: Bench) -> float:
    """Warps that hide a latency in an SM whose schedulers issue one instruction in each interval."""
    schedulers = bench.machine(CARD).schedulers
    return equations.threads_needed(latency, schedulers.interval / schedulers.count) / WARP_SIZE


def _with_knee(bench: Bench, streams: int, warps: float, *ours: float, said: str = "") -> Finding:
    """Figures, and whether so many warps are the fewest that have 95 % of the pipes' rate in a simulation."""
    counts, runs = throughput_runs(streams)
    found = bench.runs(*runs)
    enough = 0.95 * lanes(bench.machine(CARD), Unit.FP32)
    knee = next((count for count, run in zip(counts, found, strict=True) if run.rate > enough), None)
    note = f"{said}simulated with a latency of 24: {knee} warps are the fewest that have 95 % of the pipes' rate"
    return analytic(*ours, note=note, passed=None if knee == warps else False)


def throughput_runs(streams: int) -> tuple[Sequence[int], Sequence[Run]]:
    """Return numbers of warps, and the runs of so many that issue FFMAs in so many chains with a latency of 24."""
    parameters = ({"op": "FFMA", "streams": streams, "length": 240, "warps": count} for count in WARPS)
    return WARPS, [Run("throughput", CARD, each, TRUE_LATENCY, values=False) for each in parameters]


def _small(blocks: int) -> Run:
    """The run of so many blocks of 16 by 16."""
    return Run(BLOCK, CARD, {"m": 16, "n": 16 * blocks, "k": 160, "block": 16}, values=False)


def _naive(rows: int, shape: Mapping[str, int] = SIZES, settings: Mapping[str, object] | None = None) -> Run:
    """Return the naive kernel's run in blocks of so many rows, with C's rows rounded up to whole blocks."""
    m = -(-SIZES["m"] // rows) * rows
    parameters = {**SIZES, **shape, "m": m, "block_x": WARP_SIZE, "block_y": rows}
    return Run(NAIVE, CARD, parameters, settings or {}, values=False)


def sweep(bench: Bench) -> list[Measurement]:
    """Return the naive kernel's results by ROWS of a block, on one SM and for a short k."""
    return bench.runs(*(_naive(rows, SHORT) for rows in ROWS))


def _best(bench: Bench) -> tuple[int, Measurement]:
    """Rows of the naive kernel's block that is fastest on all SMs for a short k, of those that fill an SM; its results.

    The results are those of the whole product.
    """
    most = bench.machine(CARD).limits.warps
    full = [rows for rows, run in zip(ROWS, sweep(bench), strict=True) if run.warps == most]
    short = bench.runs(*(replace(_naive(rows, MIDDLE), sms="all") for rows in full))
    rows, _ = max(zip(full, short, strict=True), key=lambda each: each[1].gflops)
    (found,) = bench.runs(replace(_naive(rows), sms="all"))
    return rows, found


def _accesses(bench: Bench, kernel: Kernel) -> dict[str, list[AccessCost]]:
    """Return what the memory accesses of a kernel's first block cost before any cache, by mnemonic in program order."""
    base = ground(kernel, bench.machine(CARD, NO_TAGS))
    found = costs(base.numbers, base.rows, profile(kernel), {})
    names = [instruction.row.mnemonic for instruction in kernel.program.instructions]
    return {name: [found[pc] for pc in sorted(found) if names[pc] == name] for name in set(names)}


def _transactions(cost: AccessCost) -> float:
    """The transactions of one execution."""
    return cost.transactions / cost.executions
