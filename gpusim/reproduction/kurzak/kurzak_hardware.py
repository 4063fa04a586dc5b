"""The claims of Kurzak's slides on hardware: occupancy, and what slows memory accesses (PPAM 2011)."""

from __future__ import annotations

import numpy as np

from gpusim.engines.simulate import run_sm
from gpusim.launch.feed import TRACE_DRIVEN
from gpusim.machine import machine as model
from gpusim.reproduction.bench import Bench, Job, Pairs, Run
from gpusim.reproduction.finding import Finder, Finding, analytic, given, not_reproducible, registrar
from gpusim.reproduction.kurzak.kurzak_speed import BOARD, STENCIL, Point, drawn
from gpusim.sm.account.record.declaration import PLACE, RETIRE
from workloads.catalog import make
from workloads.papers.kurzak.stencil_space import stencil_space
from workloads.space import as_points, blocks_per_sm

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)

PIECES = 4  # jobs
MANY = 20  # blocks: more than an SM holds
LOADS = {"length": 32, "warps": 16}
WITH_CHANNELS = "gt200"  # the one chip that the slides' table has and whose channels are published
COLUMNS = 1536  # of the matrix that is transposed: 48 tiles, more than one row of them at a time


@claim("KZ10")
def occupancy_formulas(bench: Bench) -> Finding:
    """The slides' formulas beside the blocks that a launch places at once, for all points that pruning leaves."""
    limits, pairs = bench.machine(BOARD).limits, bench.pairs(BOARD)
    points = bench.compute(drawn, limits, True)
    jobs = (Job(residents, (points[i::PIECES], pairs)) for i in range(PIECES))
    found = [each for piece in bench.results(*jobs) for each in piece]
    same = sum(formula == placed for formula, _, placed in found)
    estimated = sum(estimate == placed for _, estimate, placed in found)
    note = (
        f"as many blocks as the launch places at once for {same} of {len(found)} points: the formulas leave out that "
        f"registers are allocated in units; {estimated} with the registers estimated from the innermost loop, which "
        "leaves out addresses"
    )
    ours = "formula" if same == len(found) else f"{same} of {len(found)} launches"
    return analytic(ours, note=note)


@claim("KZ23")
def coalescing(bench: Bench) -> Finding:
    """Loads of which each lane's word is in a line of its own, beside neighbouring words."""
    near, far = bench.runs(*(Run("coalescing", BOARD, {"stride": stride, **LOADS}) for stride in (1, 32)))
    return _slower(near.cycles, far.cycles, "a stride of 1 and of 32 words", "each line is a transaction")


@claim("KZ24")
def warp_serialization(bench: Bench) -> Finding:
    """Shared loads of which all lanes want different words of one bank, beside those of neighbouring words."""
    runs = (Run("bank-conflict", BOARD, {"stride": stride, "warps": 16}) for stride in (1, 32))
    near, far = bench.runs(*runs)
    return _slower(near.cycles, far.cycles, "a stride of 1 and of 32 words", "each word of a bank is a pass")


@claim("KZ26")
def thread_divergence(bench: Bench) -> Finding:
    """Lanes that take two branches, with as many additions for each of them, beside one branch."""
    one, two = bench.runs(*(Run("divergence", BOARD, {"ways": ways}) for ways in (1, 2)))
    what = "one branch and two, 64 additions for each lane"
    return _slower(one.cycles, two.cycles, what, "a warp takes both branches, one after the other")


@claim("KZ22")
def partition_camping(bench: Bench) -> Finding:
    """A transpose whose written rows all begin in one channel, and one whose rows have a pad, on all SMs."""
    machine = bench.machine(WITH_CHANNELS)
    if machine.memory_channels is None:
        return not_reproducible(f"{machine.key} has one channel to its memory")
    count, words = machine.memory_channels.count, machine.memory_channels.bytes // 4
    sizes = {"rows": count * words, "columns": COLUMNS}
    runs = (Run("partition-camping", WITH_CHANNELS, sizes | {"pad": pad}, sms="all") for pad in (words, 0))
    near, far = bench.runs(*runs)
    what = f"rows of {count * words} words, {count} channels of {4 * words} bytes, with {words} words more, and without"
    return _slower(near.cycles, far.cycles, what, "a channel serves its accesses one after another")


def residents(points: tuple[Point, ...], pairs: Pairs) -> tuple[tuple[int, int, int], ...]:
    """Return blocks by the formula, by the formula with the estimated registers, and as launched, of each point."""
    board = model.load(BOARD, dict(pairs))
    return tuple(_resident(dict(point), board) for point in as_points(stencil_space("z"), np.array(points)))


def _resident(point: dict[str, int], board: model.Machine) -> tuple[int, int, int]:
    sizes = {"m": MANY * board.chip.sms * point["blk_m"], "n": point["blk_n"], "k": point["blk_k"]}
    kernel = make(STENCIL, {"precision": "z"} | {name: str(value) for name, value in (point | sizes).items()})
    threads, shared = np.array([kernel.threads]), np.array([kernel.program.shared_bytes])
    rows, wide = point["blk_m"] // point["dim_x"], point["blk_n"] // point["dim_y"]
    fetched = (point["blk_m"] + point["blk_n"]) * point["blk_k"] // kernel.threads
    estimate = 4 * (rows * wide + rows + wide + fetched)
    formula, other = (
        int(blocks_per_sm(board.limits, threads, threads * registers, shared)[0])
        for registers in (kernel.program.registers, estimate)
    )
    kinds = run_sm(kernel, board, feed=TRACE_DRIVEN, trace=True).trace.kind
    return formula, other, int((kinds[: np.argmax(kinds == RETIRE)] == PLACE).sum())


def _slower(near: int, far: int, what: str, rule: str) -> Finding:
    """Compare times; the `rule` of the model says outright what comes out, so the result is an input."""
    note = f"{what}: {near:,} and {far:,} cycles, {far / near:.1f} times; put in, by the rule that {rule}"
    return given("slower" if far > near else "not slower", note=note)
