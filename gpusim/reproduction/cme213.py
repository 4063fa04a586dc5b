"""The claims of CME213, lecture 9 (Stanford, 2012), on a GeForce GTX 480.

Its matrices are those of the CUDA samples, A 960 by 640 and B 640 by 640, which alone fit both of its times. The naive
kernel is swept over blocks of 32 by 1 to 32 by 32 threads; where these don't divide C's rows, it has a few more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gpusim.analysis import equations
from gpusim.analysis.access_cost import AccessCost, costs
from gpusim.feed import AFFINE
from gpusim.launch import launch
from gpusim.machine import bandwidth_gbs, lanes, peak_gflops, seconds
from gpusim.reproduction.bench import Bench, Measurement, Run
from gpusim.reproduction.finding import Finder, Finding, analytic, counted, given, predicted, registrar
from isa.kernel import WARP_SIZE, Kernel
from isa.profile import profile
from isa.table import Unit

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)

CARD = "gtx480"
NAIVE, BLOCK, CUBLAS = "matmul-naive", "matmul-block", "gemm-stencil"
SIZES = {"m": 960, "n": 640, "k": 640}
COLUMN_MAJOR = {"m": 640, "n": 960, "k": 640}  # the same product to a kernel that takes its matrices so
GFLOPS = {"block": 235.8730, "CUBLAS": 784.5752}  # as printed, and 0.00333 and 0.00100 s beside them
PEAK = 80  # of the naive kernel
TRUE_LATENCY = {"unit.fp32.latency": 24}  # the lecture's
ROWS = range(1, 33)  # of blocks of the sweep
LATER = {"global_memory.latency": 600}
SHORT = {"k": 64}  # the sweep's: what a round takes hardly changes along k
MIDDLE = {"k": 160}  # the experiments'
NO_TAGS: Mapping[str, object] = {"cache.hits": "none"}
EXPERIMENTS: Sequence[Mapping[str, object]] = (NO_TAGS, {"global_memory.request_cycles": 8})
LAUNCH_BYTES = 32  # of constant bank 0 before a kernel's parameters (sm_20)
POINTER_BYTES, INTEGER_BYTES = 8, 4


@claim("CM01")
def resources(bench: Bench) -> Finding:
    """Registers and shared memory of the naive kernel's program."""
    kernel = bench.kernel(NAIVE)
    constants = LAUNCH_BYTES + POINTER_BYTES * len(kernel.buffers) + INTEGER_BYTES * len(("wA", "wB"))
    note = f"{constants} bytes of constants: {LAUNCH_BYTES} of the launch, pointers of 64 bits and two widths"
    return counted(kernel.program.registers, kernel.program.shared_bytes, note=note)


@claim("CM02")
def speed_by_occupancy(bench: Bench) -> Finding:
    """Rank correlation of speed with occupancy over 32 to 1,024 threads per block."""
    found = _sweep(bench)
    shares = [run.warps / bench.machine(CARD).limits.warps for run in found]
    correlation = rank_correlation(shares, [run.gflops for run in found])
    each = zip(ROWS, shares, found, strict=True)
    points = (f"{WARP_SIZE * rows}: {share:.0%}, {run.gflops:.0f}" for rows, share, run in each)
    note = f"threads per block: occupancy, GFLOP/s at k = {SHORT['k']}: {'; '.join(points)}"
    return predicted(f"{correlation:.3f}", note=note, passed=correlation > 0.9)


@claim("CM03")
def warps_for_latency(bench: Bench) -> Finding:
    """Warps that hide 24 cycles when each waits for its last instruction, and what they are of all warps."""
    warps = _warps(24, bench)
    return _with_knee(bench, 1, warps, warps, 100 * warps / bench.machine(CARD).limits.warps)


@claim("CM04")
def warps_with_independent_instructions(bench: Bench) -> Finding:
    """The same with four independent instructions each."""
    warps = _warps(24, bench) / 4
    return _with_knee(bench, 4, warps, warps)


@claim("CM05")
def threads_for_latencies(bench: Bench) -> Finding:
    """Threads that hide 18 and 27 cycles."""
    return analytic(*(WARP_SIZE * _warps(latency, bench) for latency in (18, 27)))


@claim("CM06")
def blocks_for_sms(bench: Bench) -> Finding:
    """Blocks per SM of the lecture's launch; small launches show why one per SM, or a few more, are too few."""
    sms = bench.machine(CARD).chip.sms
    ratio = bench.kernel(BLOCK, **SIZES).blocks / sms
    grids = {"1 block per SM": sms, "one block more": sms + 1, "2 per SM": 2 * sms, "4 per SM": 4 * sms}
    found = bench.runs(*(_small(blocks) for blocks in grids.values()))
    one, more, two, four = (run.gflops for run in found)
    note = ", ".join(f"{name}: {run.gflops:.0f} GFLOP/s" for name, run in zip(grids, found, strict=True))
    rules = ratio > 2 and more < one < two < four
    return predicted(f"{ratio:.0f}", note=f"the lecture's launch; blocks of 16 by 16, {note}", passed=rules)


@claim("CM07")
def naive_at_best(bench: Bench) -> Finding:
    """The naive kernel in the block of the sweep that does best."""
    block = _best(bench)
    (best,) = bench.runs(_naive(block))
    misses, slow = bench.runs(*(_naive(block, MIDDLE, settings) for settings in EXPERIMENTS))
    limit = max(best.limits, key=lambda name: best.limits[name])
    note = (
        f"{WARP_SIZE} by {block} threads; bound by {limit}, as L1 and L2 hold what it reads. At k = {MIDDLE['k']} "
        f"{misses.gflops:.0f} without caches, and {slow.gflops:.0f} if each line that a load asks for kept the "
        "load/store unit for 8 cycles, not 2: such a cost of hits, for which no source was found, would close it. "
        f"So would {peak_gflops(bench.machine(CARD)) / PEAK:.1f} issue slots for each product, not 10"
    )
    return predicted(best.gflops, note=note)


@claim("CM08")
def block_kernel(bench: Bench) -> Finding:
    """The block kernel with loads of shared memory four steps ahead."""
    orders = (Run(BLOCK, CARD, {**SIZES, "ahead": ahead}, values=ahead == 4) for ahead in (4, 1, 8))
    first, one, eight, later = bench.runs(*orders, Run(BLOCK, CARD, {**SIZES, "ahead": 4}, LATER, values=False))
    machine = bench.machine(CARD)
    note = (
        f"values {'right' if first.checked else 'not checked'}; the order of shared loads is not published: 4 steps "
        f"ahead of their sums, {one.gflops:.1f} and {eight.gflops:.1f} with 1 and 8; with the middle of the guide's "
        f"latencies, 600, {later.gflops:.1f}: both chosen when a first run had missed by more than 5 %"
    )
    return predicted(first.gflops, 1e3 * seconds(machine, first.cycles), note=note)


@claim("CM10")
def size(bench: Bench) -> Finding:
    """Operations of the product that fits both times."""
    flops = bench.kernel(BLOCK, **SIZES).flops
    times = ", ".join(f"{name} {flops / rate / 1e9:.5f} s" for name, rate in GFLOPS.items())
    return analytic(flops, note=f"A 960 by 640, B 640 by 640: at the printed rates {times}")


@claim("CM11")
def card(bench: Bench) -> Finding:
    """Bandwidth and peak."""
    machine = bench.machine(CARD)
    return given(bandwidth_gbs(machine), peak_gflops(machine))


@claim("CM12")
def flops_per_word(bench: Bench) -> Finding:
    """Peak over words of four bytes from memory."""
    machine = bench.machine(CARD)
    return analytic(4 * peak_gflops(machine) / bandwidth_gbs(machine), note="the slide prints about 30")


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
    passes = [cost.cycles / cost.executions / bench.machine(CARD).shared_memory.pass_cycles for cost in found["LDS"]]
    return counted(_transactions(found["LDG"][0]), max(passes[1::2]), max(passes[0::2]))


@claim("CM16")
def accesses_of_the_naive_kernel(bench: Bench) -> Finding:
    """The same for its two loads, that of A first."""
    of_a, of_b = _accesses(bench, bench.kernel(NAIVE, m=8, n=32, k=32))["LDG"]
    return counted(_transactions(of_b), _transactions(of_a))


@claim("CM17")
def ratios(bench: Bench) -> Finding:
    """Block over naive, and CUBLAS, for which the GEMM stencil stands, over block."""
    (naive,) = bench.runs(_naive(_best(bench)))
    block, cublas = bench.runs(Run(BLOCK, CARD, {**SIZES, "ahead": 4}), Run(CUBLAS, CARD, COLUMN_MAJOR))
    note = "the naive kernel is too fast here, see CM07"
    return predicted(block.gflops / naive.gflops, cublas.gflops / block.gflops, note=note)


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


def _with_knee(bench: Bench, streams: int, warps: float, *ours: float) -> Finding:
    """Figures, and whether so many warps are the fewest that reach 95 % of what 32 reach in a simulation."""
    counts = range(2, 33, 2)
    settings = TRUE_LATENCY
    parameters = ({"op": "FFMA", "streams": streams, "length": 240, "warps": count} for count in counts)
    found = bench.runs(*(Run("throughput", CARD, each, settings, values=False) for each in parameters))
    knee = next(count for count, run in zip(counts, found, strict=True) if run.rate > 0.95 * found[-1].rate)
    note = f"simulated with a latency of 24: {knee} warps reach 95 % of what 32 reach"
    return analytic(*ours, note=note, passed=None if knee == warps else False)


def _small(blocks: int) -> Run:
    """Blocks of 16 by 16 side by side."""
    return Run(BLOCK, CARD, {"m": 16, "n": 16 * blocks, "k": 160, "block": 16}, values=False)


def _naive(rows: int, shape: Mapping[str, int] = SIZES, settings: Mapping[str, object] | None = None) -> Run:
    """Return the naive kernel's run in blocks of so many rows, on as few more rows of C as they divide."""
    m = -(-SIZES["m"] // rows) * rows
    parameters = {**SIZES, **shape, "m": m, "block_x": WARP_SIZE, "block_y": rows}
    return Run(NAIVE, CARD, parameters, settings or {}, values=False)


def _sweep(bench: Bench) -> list[Measurement]:
    return bench.runs(*(_naive(rows, SHORT) for rows in ROWS))


def _best(bench: Bench) -> int:
    """Rows of the block that does best in the sweep."""
    found = _sweep(bench)
    return ROWS[int(np.argmax([run.gflops for run in found]))]


def _accesses(bench: Bench, kernel: Kernel) -> dict[str, list[AccessCost]]:
    """Return what the memory accesses of a kernel's first block cost before any cache, by mnemonic in program order."""
    ground = launch(kernel, bench.machine(CARD, NO_TAGS), feed=AFFINE, memory=np.zeros(0, np.uint32))
    found = costs(ground.sm, ground.program, profile(kernel), {})
    names = [instruction.row.mnemonic for instruction in kernel.program.instructions]
    return {name: [found[pc] for pc in sorted(found) if names[pc] == name] for name in set(names)}


def _transactions(cost: AccessCost) -> float:
    """Of one execution."""
    return cost.transactions / cost.executions
