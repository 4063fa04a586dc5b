"""The claims of Kurzak's slides on the GEMM stencil itself: its cases, its structure and its values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from gpusim.bounds import bounds
from gpusim.engines.walks.program_order import walk
from gpusim.machine import machine as model
from gpusim.reproduction.bench import Bench, Job, Pairs
from gpusim.reproduction.finding import Finder, Finding, counted, registrar
from gpusim.reproduction.main_loop import main_loop
from isa.kernel import Kernel
from isa.memory import bases, view
from isa.row import Unit
from workloads.catalog import make
from workloads.papers.kurzak.stencil import LAYOUTS, LEADING, ORDERS, PRECISIONS, READS, SKEWS
from workloads.papers.kurzak.stencil_tuning import PUBLISHED, TUNING, Tuning

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)

STENCIL = "gemm-stencil"
BOARD = "c2050"
CASES = [(p, layout, read) for p in PRECISIONS for layout in LAYOUTS[2 if p in "cz" else 1] for read in READS]
RAGGED = {"m": 21, "n": 29, "k": 19}
SPACED = {name: max(RAGGED.values()) + number for number, name in enumerate(LEADING, 2)}  # suit any layout and order
SMALL = Tuning(16, 16, 8, 8, 8, 8, 8, 8, 8)  # suits every case
KINDS = {Unit.TEXTURE: "fetch", Unit.GLOBAL: "fetch", Unit.FP32: "update", Unit.DP: "update", Unit.BARRIER: "barrier"}


@dataclass(frozen=True, slots=True)
class Skewed:
    """Passes of a block's stores to shared memory, and of its loads: with the skew, and without."""

    precision: str
    layout: str
    stores: tuple[int, int]
    loads: tuple[int, int]


@claim("KZ01")
def cases(bench: Bench) -> Finding:
    """Different programs among all precisions, layouts and read modes."""
    programs = {(case[0], bench.kernel(STENCIL, **_named(case), m=1, n=1, k=1).program.instructions) for case in CASES}
    return counted(len(programs))


@claim("KZ02")
def parameters(bench: Bench) -> Finding:
    """Tuning parameters: those that the kernel's arguments have."""
    arguments = bench.kernel(STENCIL, m=1, n=1, k=1).arguments
    return counted(sum(name in TUNING for name in arguments), note=", ".join(TUNING))


@claim("KZ09")
def thread_tile(bench: Bench) -> Finding:
    """Elements that a thread stores, of every published tile: (M / DIM_X) (N / DIM_Y)."""
    published = [(p, layout, t) for p, by_layout in PUBLISHED.items() for layout, t in by_layout.items()]
    stored = [_stores(bench.kernel(STENCIL, precision=p, layout=layout, m=1, n=1, k=1)) for p, layout, _ in published]
    right = stored == [t.blk_m // t.dim_x * (t.blk_n // t.dim_y) for *_, t in published]
    return counted("formula" if right else f"other tiles: {stored}")


@claim("KZ15")
def skew(bench: Bench) -> Finding:
    """Passes of all shared stores of the published kernels that transpose a matrix, and of all others."""
    jobs = (Job(skewed, (precision, bench.pairs(BOARD))) for precision in PRECISIONS)
    every = [each for found in bench.results(*jobs) for each in found]
    turned, straight = ([each for each in every if ("t" in each.layout) is which] for which in (True, False))
    same = [f"{x.precision}gemm {x.layout}" for x in turned if x.stores[0] >= x.stores[1]]
    stores, others = (_sums([x.stores for x in some]) for some in (turned, straight))
    loads = _sums([x.loads for x in every])
    note = f"passes of a block's stores, summed over kernels: {stores}; where none transposes: {others}; loads: {loads}"
    return counted(f"no fewer in {', '.join(same)}" if same else "fewer passes", note=note)


@claim("KZ16")
def structure(bench: Bench) -> Finding:
    """The loop's parts in order, and the distance of stored neighbours of memory, for every case."""
    sizes = {"m": SMALL.blk_m, "n": SMALL.blk_n, "k": 2 * SMALL.blk_k} | asdict(SMALL)
    kernels = [(case, bench.kernel(STENCIL, **_named(case), **sizes)) for case in CASES]
    wrong = [case for case, kernel in kernels if not (_double_buffered(kernel) and _transposes(kernel))]
    note = f"{len(kernels)} cases; of the picture one syncthreads survives, values need the two that the loop has"
    return counted("structure" if not wrong else f"not in {wrong}", note=note)


@claim("KZ17")
def borders(bench: Bench) -> Finding:
    """Values of all cases for sizes that no tile divides."""
    right = sum(bench.results(*(Job(ragged, (precision,)) for precision in PRECISIONS)))
    note = f"{right} of {len(CASES)} cases right, {' by '.join(map(str, RAGGED.values()))} in tiles of 16 by 16 by 8"
    return counted("any size right" if right == len(CASES) else note, note=note)


@claim("KZ18")
def complex_fma(bench: Bench) -> Finding:
    """FFMAs of CGEMM over those of SGEMM with the same tile."""
    tile = asdict(PUBLISHED["c"]["nn"])
    real, complex_ = (_mnemonics(bench.kernel(STENCIL, precision=p, k=16, **tile)).count("FFMA") for p in "sc")
    thread = PUBLISHED["c"]["nn"].thr_m * PUBLISHED["c"]["nn"].thr_n
    note = (
        "derived, not printed: two parts by two, as the slides have a macro for complex multiply-adds; without the two "
        "per element that scale by alpha"
    )
    return counted((complex_ - 2 * thread) / real, note=note)


@claim("KZ21")
def arguments(bench: Bench) -> Finding:
    """Values of all cases in both orders, for ragged sizes and leading dimensions beyond what the matrices need."""
    right = sum(bench.results(*(Job(ragged, (p, order)) for p in PRECISIONS for order in ORDERS)))
    every = len(ORDERS) * len(CASES)
    spaced = ", ".join(f"{name} {value}" for name, value in SPACED.items())
    note = f"{right} of {every} cases right and nothing written between the columns of C; {spaced}"
    return counted("any argument right" if right == every else note, note=note)


def ragged(precision: str, order: str = "") -> int:
    """Return how many cases of a precision are right for sizes that the tile does not divide.

    With an `order` the matrices are stored so, and their leading dimensions are larger than they need be.
    """
    mine = [_named(case) for case in CASES if case[0] == precision]
    more = {name: str(value) for name, value in (asdict(SMALL) | RAGGED).items()} | _factors(precision)
    if order:
        more |= {name: str(value) for name, value in SPACED.items()} | {"order": order}
    return sum(_right(make(STENCIL, case | more)) for case in mine)


def skewed(precision: str, pairs: Pairs) -> tuple[Skewed, ...]:
    """Return the passes of a block of each published kernel of a precision."""
    machine = model.load(BOARD, dict(pairs))
    found = []
    for layout in PUBLISHED[precision]:
        (stores, loads), (other_stores, other_loads) = (_passes(machine, precision, layout, x) for x in SKEWS)
        found.append(Skewed(precision, layout, (stores, other_stores), (loads, other_loads)))
    return tuple(found)


def _passes(machine: model.Machine, precision: str, layout: str, skew: str) -> list[int]:
    """Return the passes through shared memory of a block's stores and loads, in two steps along k."""
    t = PUBLISHED[precision][layout]
    sizes = {"m": str(t.blk_m), "n": str(t.blk_n), "k": str(2 * t.blk_k)}
    kernel = make(STENCIL, sizes | {"precision": precision, "layout": layout, "skew": skew})
    (work,), _ = bounds.works(kernel, machine)
    names = _mnemonics(kernel)
    return [sum(cost.passes for pc, cost in work.costs.items() if names[pc].startswith(x)) for x in ("STS", "LDS")]


def _sums(passes: Sequence[tuple[int, int]]) -> str:
    with_skew, without = (sum(counts) for counts in zip(*passes, strict=True))
    return f"{with_skew:,} with the skew, {without:,} without"


def _named(case: tuple[str, str, str]) -> dict[str, str]:
    return dict(zip(("precision", "layout", "read"), case, strict=True))


def _factors(precision: str) -> dict[str, str]:
    imaginary = {"alpha_im": "0.5", "beta_im": "-0.75"} if precision in "cz" else {}
    return {"alpha": "1.5", "beta": "-0.5"} | imaginary


def _mnemonics(kernel: Kernel) -> list[str]:
    return [i.row.mnemonic for i in kernel.program.instructions]


def _stores(kernel: Kernel) -> int:
    return sum(name.startswith("STG") for name in _mnemonics(kernel))


def _double_buffered(kernel: Kernel) -> bool:
    """Tell whether the loop fetches all, updates, waits, stores all to shared memory and waits."""
    kinds = ["store" if i.row.mnemonic.startswith("STS") else KINDS.get(i.row.unit) for i in main_loop(kernel.program)]
    kept = [kind for kind in kinds if kind]
    changes = [kind for i, kind in enumerate(kept) if i == 0 or kept[i - 1] != kind]
    return changes == ["fetch", "update", "barrier", "store", "barrier"] and kept.count("barrier") == 2


def _transposes(kernel: Kernel) -> bool:
    """Tell whether neighbours in memory are stored a row of shared memory apart where the matrix is transposed."""
    given = kernel.arguments
    size = {"s": 4, "d": 8, "c": 8, "z": 16}[str(given["precision"])]
    rows = int(str(given["blk_m"])) + 1, int(str(given["blk_k"])) + 1
    expected = [size * (row if letter != "n" else 1) for letter, row in zip(str(given["layout"]), rows, strict=True)]
    return list(_stored(kernel)) == expected


def _stored(kernel: Kernel) -> Iterator[int]:
    """Bytes between what the first two threads store to shared memory, of A's first element and of B's."""
    stores = [pc for pc, name in enumerate(_mnemonics(kernel)) if name.startswith("STS")]
    t = Tuning(**{name: int(str(kernel.arguments[name])) for name in TUNING})
    firsts = {stores[0], stores[t.blk_m * t.blk_k // t.threads]}
    seen: dict[int, int] = {}

    def observe(pc: int, _: object, addresses: np.ndarray[tuple[int, ...], np.dtype[np.uint32]], __: object) -> None:
        if pc in firsts:
            seen.setdefault(pc, int(addresses[0, 1]) - int(addresses[0, 0]))

    walk(kernel, [0], observe, addresses=True)
    yield from (seen[pc] for pc in sorted(firsts))


def _right(kernel: Kernel) -> bool:
    """Tell whether every block leaves what is expected of it, within the error bound, and all else of C as it was."""
    memory, where = walk(kernel).memory, bases(kernel.buffers)
    (buffer,) = (b for b in kernel.buffers if b.name == "C")
    assert kernel.expected is not None
    assert buffer.fill is not None
    c, untouched = view(memory, buffer, where["C"]), np.ones(buffer.elements, np.bool_)
    promises = [kernel.expected(block) for block in range(kernel.blocks)]
    for p in promises:
        untouched[p.index] = False
    kept = c[untouched] == buffer.fill(np.flatnonzero(untouched))
    within = (bool((np.abs(c[p.index].astype(np.float64) - p.value) <= p.bound).all()) for p in promises)
    return bool(kept.all()) and all(within)
