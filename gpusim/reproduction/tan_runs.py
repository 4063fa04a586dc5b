"""The claims of Tan et al., DGEMM on Fermi (SC 2011), that are simulated: latencies, and how fast each version is.

The machine is `c2050`, two numbers of which were fitted to versions 3 and 4. A rule that decides a claim is
switched off in a separate run, and named in the note.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gpusim.analysis.bound.bounds import bound
from gpusim.reproduction import tan_cublas
from gpusim.reproduction.bench import NONE, Bench, Measurement, Run
from gpusim.reproduction.finding import Finder, Finding, analytic, counted, fitted, given, predicted, registrar
from gpusim.reproduction.gf100 import WITHOUT_TAGS
from gpusim.units.global_memory import arriving_mbs
from isa.kernel import WARP_SIZE, Kernel
from isa.text import listing
from workloads.gemm.tan_program import TABLE_3

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)
BOARD = "c2050"
PAPER = "Tan SC'11"
OWN = "1 choice, the order of its fetches or spills, in sight of it"
SIGHT = "ECC and the bandwidth that arrives, which have sources, in sight of it"
SIDE = 4096
DOUBLE, LINE = 8, 128  # bytes
CUBLAS = 302  # GFLOP/s of CUBLAS 3.2, as published
FULL = 0.99  # share of a rate that counts as all of it
FULL_SM = 42  # blocks of 16 warps: three on each SM
FULL_BANDWIDTH = {"memory.ecc": 0, "memory.efficiency": 1000}
VERSIONS = ("v1", "v2", "v3", "v4")


def dgemm(bench: Bench, *variants: str, settings: Mapping[str, object] = NONE, side: int = SIDE) -> list[Measurement]:
    """Return the results of these variants in a large product, on the machine with these additional settings."""
    size = {"m": side, "n": side, "k": side}
    return bench.runs(*(Run("dgemm-tan", BOARD, {**size, "variant": v}, settings, values=False) for v in variants))


@claim("TN10")
def warps_that_hide_the_issue_interval(bench: Bench) -> Finding:
    """The fewest warps of an SM, of those tried, whose FFMAs take all issue slots, over the schedulers."""
    names = {4: "rate-ffma-warps4", 6: "rate-ffma-warps6", 16: "rate-ffma"}
    rates = {warps: bench.point(BOARD, name) for warps, name in names.items()}
    fewest = min(warps for warps, rate in rates.items() if rate > FULL * max(rates.values()))
    warps = fewest / bench.machine(BOARD).schedulers.count
    note = ", ".join(f"{rate:.2f} from {warps} warps" for warps, rate in rates.items())
    return predicted(warps, note=f"thread instructions per cycle: {note}", passed=warps == 3)


@claim("TN12")
def copies_by_offset(bench: Bench) -> Finding:
    """Copies of doubles from each offset in two lines: the memory's time for the transactions of each."""
    machine, offsets = bench.machine(BOARD), range(0, 32)
    times = {offset: bound(_copy(offset, machine.chip.sms), machine).limits["memory bandwidth"] for offset in offsets}
    best = [offset for offset in offsets if times[offset] == min(times.values())]
    slower = max(times.values()) / min(times.values())
    note = f"doubles: fastest {' and '.join(map(str, best))} after a line's start, else {slower:.1f} times the time"
    return counted("order", note=note, passed=best == [o for o in offsets if o % (LINE // DOUBLE) == 0])


@claim("TN13")
def issue_interval(bench: Bench) -> Finding:
    """Independent instructions of one warp."""
    return given(bench.point(BOARD, "issue_interval"))


@claim("TN14")
def latencies_of_shared_loads(bench: Bench) -> Finding:
    """Chains of loads from shared memory."""
    return given(*(bench.point(BOARD, f"latency-lds{width}") for width in ("", ".64", ".128")))


@claim("TN17")
def raw_latencies(bench: Bench) -> Finding:
    """A pointer chase that hits in the L2, the static scheduler's latency for one that misses, and chains."""
    names = ("chase-l2", "latency-lds.128", "latency-dfma", "latency-iadd")
    cached, *others = (bench.point(BOARD, name) for name in names)
    latency = bench.machine(BOARD).global_memory.latency
    note = (
        "the upper one is what the static scheduler is given, as the paper gave it to its own; the machine has "
        f"{latency}, to which waiting for bandwidth adds"
    )
    return given(cached, TABLE_3.of["LDG.128"].raw, *others, note=note)


@claim("TN24")
def algorithm_1(bench: Bench) -> Finding:
    """Algorithm 1, 64 bits."""
    (run,) = dgemm(bench, "alg1")
    note = "A is stored before B is fetched, as figure 1 has it; strict barriers"
    return _fitted(OWN, run.percent_of_peak, note=note)


@claim("TN25")
def algorithm_2(bench: Bench) -> Finding:
    """Algorithm 2 with six doubles of its prefetch spilled."""
    (run,) = dgemm(bench, "alg2")
    local = 100 * (run.issued["LDL.64"] + run.issued["STL.64"]) / sum(run.issued.values())
    note = f"{local:.1f} % of the instructions are spills; which is not published"
    return _fitted(OWN, run.percent_of_peak, note=note)


@claim("TN27")
def version_4(bench: Bench) -> Finding:
    """The final version."""
    (run,) = dgemm(bench, "v4")
    return _fitted(bench.fitted(BOARD, PAPER), run.gflops, run.percent_of_peak)


@claim("TN28")
def version_4_over_cublas(bench: Bench) -> Finding:
    """The final version over the kernel in place of CUBLAS's, which is not published."""
    return _over_cublas(bench, "v4")


@claim("TN29")
def version_3_over_cublas(bench: Bench) -> Finding:
    """Version 3 over the same."""
    return _over_cublas(bench, "v3")


@claim("TN30")
def version_4_over_version_3(bench: Bench) -> Finding:
    """The gain from the placement of fetches and stores."""
    after, before = dgemm(bench, "v4", "v3")
    in_step, *_ = both = dgemm(bench, "v4", "v3", settings={"schedulers.policy": "lrr"})
    note = f"{_gain(*both):.1f} under lrr, where version 4 falls to {in_step.percent_of_peak:.1f} % of peak"
    return _fitted(bench.fitted(BOARD, PAPER), _gain(after, before), note=note)


@claim("TN31")
def version_2(bench: Bench) -> Finding:
    """Version 2, published as 58 to 60."""
    (run,) = dgemm(bench, "v2")
    return _fitted(_in_sight(bench), run.percent_of_peak)


@claim("TN32")
def version_1(bench: Bench) -> Finding:
    """Version 1 beside algorithm 2."""
    run, other = dgemm(bench, "v1", "alg2")
    (full,) = dgemm(bench, "v1", settings=FULL_BANDWIDTH)
    note = f"algorithm 2: {other.percent_of_peak:.1f}; with the board's bandwidth in full {full.percent_of_peak:.1f}"
    most = min(57, other.percent_of_peak)
    return _fitted(_in_sight(bench), run.percent_of_peak, note=note, passed=run.percent_of_peak <= most)


@claim("TN33")
def order(bench: Bench) -> Finding:
    """The four versions; parameters were fitted to 3 and 4."""
    percent, full = (_percent(dgemm(bench, *VERSIONS, settings=changed)) for changed in (NONE, FULL_BANDWIDTH))
    note = f"{_listed(percent)}; with the board's bandwidth in full {_listed(full)}"
    found = sorted(VERSIONS, key=dict(zip(VERSIONS, percent, strict=True)).__getitem__)
    return _fitted(_in_sight(bench), " < ".join(found), note=note)


@claim("TN34")
def transposition(bench: Bench) -> Finding:
    """The time to read and write A once, over this and version 4's time together; the share falls as matrices grow."""
    (run,) = dgemm(bench, "v4")
    moved = 2 * DOUBLE * SIDE**2 / (float(arriving_mbs(bench.machine(BOARD))) * 1e6)
    share = moved / (moved + 2 * SIDE**3 / (run.gflops * 1e9))
    return analytic(100 * share, note=f"at {SIDE}, which the paper does not say, and with the bandwidth that arrives")


@claim("TN41")
def double_precision_alone(bench: Bench) -> Finding:
    """Slots of both schedulers over DFMAs, with a pipe for each scheduler, so that no pipe limits them."""
    own: Mapping[str, object] = {"pipe.dp.schedulers": 1}
    each = (own, {**own, "double.exclusive": "off"})
    runs = (Run("throughput", BOARD, {"op": "DFMA", "blocks": FULL_SM}, settings) for settings in each)
    alone, together = (WARP_SIZE / run.rate for run in bench.runs(*runs))
    return given(round(alone, 2), note=f"{together:.2f} without the rule")


_COPY = """.kernel copy
.grid {blocks}
.block 256
.buffer x f64 {elements}
.buffer y f64 {elements}
    S2R R0, TID.X
    S2R R1, CTAID.X
    IMAD R0, R1, 256, R0
    SHL R0, R0, 3
    IADD R2, R0, c[x]
    IADD R3, R0, c[y]
    LDG.64 R4, [R2+{first}]
    STG.64 [R3+{first}], R4
    EXIT
"""


def _copy(offset: int, blocks: int) -> Kernel:
    """Blocks that copy a double in each thread, from the offset-th on."""
    return listing.read(_COPY.format(blocks=blocks, elements=256 * blocks + offset, first=DOUBLE * offset))


def _over_cublas(bench: Bench, version: str) -> Finding:
    (run,) = dgemm(bench, version, side=tan_cublas.SIDE)
    other = tan_cublas.dgemm(bench)
    published = 100 * (run.gflops / CUBLAS - 1)
    note = f"both at {tan_cublas.SIDE}; {run.gflops:.1f} GFLOP/s are {published:.1f} % over the published {CUBLAS}"
    return _fitted(bench.fitted(BOARD, PAPER), _gain(run, other), note=note)


def _in_sight(bench: Bench) -> str:
    return f"{SIGHT}; {bench.fitted(BOARD, PAPER)}"


def _fitted(by: str, *ours: object, note: str = "", passed: bool | None = None) -> Finding:
    """Return a finding that was simulated on a board without tags."""
    return fitted(by, *ours, note="; ".join(part for part in (note, WITHOUT_TAGS) if part), passed=passed)


def _gain(after: Measurement, before: Measurement) -> float:
    return 100 * (after.gflops / before.gflops - 1)


def _percent(runs: Iterable[Measurement]) -> list[float]:
    return [run.percent_of_peak for run in runs]


def _listed(numbers: Iterable[float]) -> str:
    return ", ".join(f"{number:.1f}" for number in numbers)
