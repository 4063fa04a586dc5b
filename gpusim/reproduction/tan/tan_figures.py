"""Figure 2 of Tan et al., DGEMM on Fermi (SC 2011), as claims, and plots of figures 2, 5, 6, 10 and 11.

The figures survive as captions, so the only published points are those that the text quotes. It quotes best rates, and
not at which size; they are drawn at the largest size here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpusim.machine.machine import peak_fp64_gflops
from gpusim.reproduction.bench import Bench, Run
from gpusim.reproduction.finding import Finder, Finding, predicted
from gpusim.reproduction.finding import registrar as claims
from gpusim.reproduction.main_loop import main_loop
from gpusim.reproduction.pages.plot import Curve, Plot, Plotter
from gpusim.reproduction.pages.plot import registrar as plots
from gpusim.sm.memory.global_memory.declaration import arriving_mbs
from isa.kernel import WARP_SIZE
from isa.row import Unit
from workloads.papers.tan.tan_plan import DEPTH
from workloads.papers.tan.tan_plan import SIDE as TILE

CLAIMS: dict[str, Finder] = {}
PLOTS: dict[str, Plotter] = {}
claim, plot = claims(CLAIMS), plots(PLOTS)

BOARD = "c2050"
LINE = 128  # bytes
OFFSETS = range(33)  # elements: two lines of doubles
WIDTHS = (32, 64, 128)
COPYING = {"warps": 32, "blocks": 14 * 64}  # blocks as large as the paper's, and enough of them for a steady rate
SLIGHTLY = 1.1
SIZES = tuple(range(512, 3073, 512))
SAMPLE = 8  # blocks from which the time of each product is estimated
PEAKS = {"alg1": 54, "alg2": 57, "cublas": 58}  # percent of peak, as quoted
BEST = {"v4": 362, "cublas": 302}  # GFLOP/s, as quoted
CUBLAS, STAND_IN = "CUBLAS 3.2", "in place of CUBLAS"  # theirs, and the stencil: of one colour
Curves = Sequence[tuple[str, Mapping[str, object]]]


@claim("TN12")
def copies_of_64_bits(bench: Bench) -> Finding:
    """Copies of doubles from each offset in two lines, simulated: 16 threads then have 128 bytes."""
    return _by_offset(bench, 64)


@claim("TN54")
def copies_of_128_bits(bench: Bench) -> Finding:
    """Copies of two doubles from each offset."""
    return _by_offset(bench, 128)


@claim("TN55")
def copies_by_width(bench: Bench) -> Finding:
    """The best copies of 128 bits over those of 64: slightly better is above 1 and at most 1.1."""
    best = {width: max(_rates(bench, width)) for width in WIDTHS}
    gain = best[128] / best[64]
    note = ", ".join(f"{rate:.1f} GB/s with {width} bits" for width, rate in best.items())
    note = f"{note}, of {_most(bench):.1f} that can be copied; a thread copies one element"
    return predicted(f"{gain:.3f}", note=note, passed=1 < gain <= SLIGHTLY)


@plot("tan-figure-2")
def figure_2(bench: Bench) -> Plot:
    """Bandwidth of copies by offset and width."""
    x = tuple(float(offset) for offset in OFFSETS)
    jobs = [_copy(width, offset) for width in WIDTHS for offset in OFFSETS]
    bench.runs(*jobs)
    curves = tuple(Curve(f"{width} bits", x, tuple(_rates(bench, width))) for width in WIDTHS)
    note = "A copy from memory to memory, of one element a thread, from an offset to a line's start on."
    return Plot("Tan et al., figure 2", "offset, elements", "GB/s copied", curves, note)


@plot("tan-figure-5")
def figure_5(bench: Bench) -> Plot:
    """Algorithms 1 and 2 and the kernel in place of CUBLAS, by size."""
    chosen: Curves = (("algorithm 1", {"variant": "alg1"}), ("algorithm 2", {"variant": "alg2"}))
    peak = peak_fp64_gflops(bench.machine(BOARD))
    published = tuple(
        Curve(name, (float(SIZES[-1]),), (peak * PEAKS[key] / 100,), published=True, line=False)
        for name, key in (("algorithm 1", "alg1"), ("algorithm 2", "alg2"), (CUBLAS, "cublas"))
    )
    note = "The published points are quoted in percent of peak and without a size; a stencil stands for CUBLAS."
    return Plot("Tan et al., figure 5", _SIZE, "GFLOP/s", (*_by_size(bench, chosen), *published), note)


@plot("tan-figure-6")
def figure_6(bench: Bench) -> Plot:
    """Local memory accesses of algorithm 2 and of the kernel in place of CUBLAS, by size."""
    x = tuple(float(size) for size in SIZES)
    ours = _local(bench, "dgemm-tan", {"variant": "alg2"})
    theirs = _local(bench, "gemm-stencil", {"precision": "d"})
    curves = (
        Curve("algorithm 2", x, tuple(ours * size**3 / 1e6 for size in x)),
        Curve(STAND_IN, x, tuple(theirs * size**3 / 1e6 for size in x), like=CUBLAS),
        Curve(CUBLAS, x, (0.0,) * len(x), published=True),
    )
    note = (
        "Ours are counted in the programs' main loops. The paper's text gives CUBLAS none, at any size, and no number "
        "for algorithm 2; the stencil keeps a pointer there."
    )
    below = -1.0  # so that points at 0 are whole
    return Plot("Tan et al., figure 6", _SIZE, "local accesses of warps, 10^6", curves, note, y_from=below)


@plot("tan-figure-10")
def figure_10(bench: Bench) -> Plot:
    """The final version and the kernel in place of CUBLAS, by size."""
    chosen: Curves = (("version 4", {"variant": "v4"}),)
    note = "The published points are quoted as best rates, without a size; a stencil stands for CUBLAS."
    return Plot("Tan et al., figure 10", _SIZE, "GFLOP/s", (*_by_size(bench, chosen), *_best(*BEST)), note)


@plot("tan-figure-11")
def figure_11(bench: Bench) -> Plot:
    """The four versions, the first with either reading of its barriers, and the kernel in place of CUBLAS, by size."""
    chosen: Curves = (
        ("version 1, one barrier", {"variant": "v1", "barriers": "literal"}),
        ("version 1, two barriers", {"variant": "v1"}),
        *((f"version {v[1]}", {"variant": v}) for v in ("v2", "v3", "v4")),
    )
    note = "The published points are quoted as best rates, without a size; a stencil stands for CUBLAS."
    return Plot("Tan et al., figure 11", _SIZE, "GFLOP/s", (*_by_size(bench, chosen), *_best(*BEST)), note)


_SIZE = "m = n = k"


def _most(bench: Bench) -> float:
    """GB/s that can be copied: half of what arrives of the memory's bandwidth."""
    return float(arriving_mbs(bench.machine(BOARD))) / 2000


def _copy(width: int, offset: int) -> Run:
    return Run("offset-copy", BOARD, {"width": width, "offset": offset, **COPYING}, values=False)


def _rates(bench: Bench, width: int) -> list[float]:
    """GB/s copied from each offset."""
    moved = COPYING["blocks"] * COPYING["warps"] * WARP_SIZE * width // 8
    mhz = bench.machine(BOARD).chip.shader_mhz
    return [moved * mhz / run.cycles / 1000 for run in bench.runs(*(_copy(width, offset) for offset in OFFSETS))]


def _by_offset(bench: Bench, width: int) -> Finding:
    """Tell whether copies of this width are fastest exactly from the starts of lines on; equal is within 1 %."""
    rates, whole = _rates(bench, width), LINE // (width // 8)
    best = [offset for offset, rate in zip(OFFSETS, rates, strict=True) if rate > 0.99 * max(rates)]
    named = ", ".join(map(str, best))
    note = f"fastest from elements {named} after a line's start, {max(rates):.1f} GB/s; else down to {min(rates):.1f}"
    return predicted("order", note=note, passed=best == [o for o in OFFSETS if o % whole == 0])


def _by_size(bench: Bench, chosen: Curves) -> tuple[Curve, ...]:
    """Return a curve of each choice, and that of the kernel in place of CUBLAS."""
    kernels = [("dgemm-tan", choice) for _, choice in chosen] + [("gemm-stencil", {"precision": "d"})]
    sized = [{**choice, "m": n, "n": n, "k": n} for _, choice in kernels for n in SIZES]
    names = [name for name, _ in kernels for _ in SIZES]
    runs = bench.runs(*(Run(name, BOARD, p, values=False, sample=SAMPLE) for name, p in zip(names, sized, strict=True)))
    rates = [run.gflops for run in runs]
    labels = [*(name for name, _ in chosen), STAND_IN]
    x = tuple(float(size) for size in SIZES)
    each = [tuple(rates[i : i + len(SIZES)]) for i in range(0, len(rates), len(SIZES))]
    like = {STAND_IN: CUBLAS}
    return tuple(Curve(label, x, y, like=like.get(label, "")) for label, y in zip(labels, each, strict=True))


def _best(*keys: str) -> tuple[Curve, ...]:
    """Return the quoted best rates, each as a point."""
    named = {"v4": "version 4", "cublas": CUBLAS}
    place = (float(SIZES[-1]),)
    return tuple(Curve(named[key], place, (float(BEST[key]),), published=True, line=False) for key in keys)


def _local(bench: Bench, name: str, parameters: Mapping[str, object]) -> float:
    """Local accesses of warps over the products of a launch, whose tiles of C are 64 by 64 and 16 deep."""
    kernel = bench.kernel(name, **parameters)
    accesses = sum(i.row.unit is Unit.LOCAL for i in main_loop(kernel.program))
    return accesses * kernel.warps / (TILE * TILE * DEPTH)
