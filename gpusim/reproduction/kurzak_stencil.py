"""The claims of Kurzak's slides on the GEMM stencil itself: its cases, its structure, its values and its speed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import numpy as np

from gpusim.analysis.bound.bounds import bound
from gpusim.reproduction.bench import Bench, Job, Run
from gpusim.reproduction.finding import Finder, Finding, counted, not_reproducible, predicted, registrar
from gpusim.reproduction.gf100 import WITHOUT_TAGS
from gpusim.reproduction.main_loop import main_loop
from isa.dataflow.address_slice import address_slice
from isa.execute.interpret import interpret
from isa.kernel import Kernel
from isa.memory import bases, view
from isa.table import Unit
from workloads.catalog import make
from workloads.gemm.stencil import LAYOUTS, PRECISIONS, READS
from workloads.gemm.stencil_tuning import PUBLISHED, TUNING, Tuning, published_tuning

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)

STENCIL = "gemm-stencil"
BOARD = "c2050"
CASES = [(p, layout, read) for p in PRECISIONS for layout in LAYOUTS[2 if p in "cz" else 1] for read in READS]
SIDE = {"s": 1344, "d": 896, "c": 896, "z": 672}  # whole tiles, as many on each of 14 SMs
DEPTH = 672
RAGGED = {"m": 21, "n": 29, "k": 19}
UNTUNED = Tuning(32, 32, 16, 16, 16, 16, 16, 16, 16)
SMALL = Tuning(16, 16, 8, 8, 8, 8, 8, 8, 8)  # suits every case
KINDS = {Unit.TEXTURE: "fetch", Unit.GLOBAL: "fetch", Unit.FP32: "update", Unit.DP: "update", Unit.BARRIER: "barrier"}


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


@claim("KZ07")
def zgemm(bench: Bench) -> Finding:
    """ZGEMM as published, and with the other precisions' threads for its unpublished predecessor."""
    earlier, first = asdict(UNTUNED), asdict(SMALL)
    runs = _run("z", **earlier), _run("z"), _run("z", read="plain", **earlier), _run("z", read="plain")
    untuned, tuned, plain_untuned, plain, small = (run.gflops for run in bench.runs(*runs, _run("z", **first)))
    note = (
        "the untuned kernel is not given: 32x32x16 of 16x16 threads is taken, the other precisions' shape; the first "
        f"that was taken, 16x16x8 of 8x8, comes to {small:.0f}. Tuned over untuned {tuned / untuned:.3f}, published "
        f"1.133. 1D textures, as in MAGMA; with plain loads {plain_untuned:.0f} / {plain:.0f}, ratio "
        f"{plain / plain_untuned:.3f}; {WITHOUT_TAGS}"
    )
    return predicted(untuned, tuned, note=note)


@claim("KZ09")
def thread_tile(bench: Bench) -> Finding:
    """Elements that a thread stores, of every published tile: (M / DIM_X) (N / DIM_Y)."""
    published = [(p, layout, t) for p, by_layout in PUBLISHED.items() for layout, t in by_layout.items()]
    stored = [_stores(bench.kernel(STENCIL, precision=p, layout=layout, m=1, n=1, k=1)) for p, layout, _ in published]
    right = stored == [t.blk_m // t.dim_x * (t.blk_n // t.dim_y) for *_, t in published]
    return counted("formula" if right else f"other tiles: {stored}")


@claim("KZ15")
def skew(bench: Bench) -> Finding:
    """Elements by which the skew lengthens a row of a tile in shared memory, and the cost of conflicts."""
    machine, t = bench.machine(BOARD), published_tuning("z", "tt")
    sizes = {"m": t.blk_m, "n": t.blk_n, "k": 2 * t.blk_k}
    on, off = (bench.kernel(STENCIL, precision="z", layout="tt", skew=x, **sizes) for x in ("on", "off"))
    more = (on.program.shared_bytes - off.program.shared_bytes) / (16 * (t.blk_k + t.blk_n))
    cycles = [bound(kernel, machine).limits["load/store unit"] for kernel in (on, off)]
    return counted(more, note=f"a block of ZGEMM TT, load/store unit: {cycles[0]:,} cycles; {cycles[1]:,} without it")


@claim("KZ16")
def structure(bench: Bench) -> Finding:
    """The loop's parts in order, and the distance of stored neighbours of memory, for every case."""
    sizes = {"m": SMALL.blk_m, "n": SMALL.blk_n, "k": 2 * SMALL.blk_k} | asdict(SMALL)
    kernels = [(case, bench.kernel(STENCIL, **_named(case), **sizes)) for case in CASES]
    wrong = [case for case, kernel in kernels if not (_double_buffered(kernel) and _transposes(kernel))]
    return counted("structure" if not wrong else f"not in {wrong}", note=f"{len(kernels)} cases")


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
    return counted((complex_ - 2 * thread) / real, note="without the two per element that scale by alpha")


@claim("KZ19")
def plots(bench: Bench) -> Finding:
    """The four precisions with their published tiles, which the plots show."""
    each = bench.runs(*(_run(p) for p in PRECISIONS))
    ours = ", ".join(f"{p}gemm {run.gflops:.0f}" for p, run in zip(PRECISIONS, each, strict=True))
    return not_reproducible("the document's text has no numbers", note=f"{ours} GFLOP/s on the C2050")


def ragged(precision: str) -> int:
    """Return how many cases of a precision are right for sizes that the tile does not divide."""
    mine = [_named(case) for case in CASES if case[0] == precision]
    more = {name: str(value) for name, value in (asdict(SMALL) | RAGGED).items()} | _factors(precision)
    return sum(_right(make(STENCIL, case | more)) for case in mine)


def _named(case: tuple[str, str, str]) -> dict[str, str]:
    return dict(zip(("precision", "layout", "read"), case, strict=True))


def _factors(precision: str) -> dict[str, str]:
    imaginary = {"alpha_im": "0.5", "beta_im": "-0.75"} if precision in "cz" else {}
    return {"alpha": "1.5", "beta": "-0.5"} | imaginary


def _run(precision: str, **parameters: object) -> Run:
    side = SIDE[precision]
    sizes = {"precision": precision, "m": side, "n": side, "k": DEPTH}
    return Run(STENCIL, BOARD, sizes | parameters, values=False)


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

    interpret(kernel, [0], observe, address_slice(kernel.program))
    yield from (seen[pc] for pc in sorted(firsts))


def _right(kernel: Kernel) -> bool:
    """Tell whether every block leaves what is expected of it, within the error bound."""
    memory, where = interpret(kernel).memory, bases(kernel.buffers)
    (c,) = (view(memory, b, where[b.name]) for b in kernel.buffers if b.name == "C")
    assert kernel.expected is not None
    promises = [kernel.expected(block) for block in range(kernel.blocks)]
    return all(bool((np.abs(c[p.index].astype(np.float64) - p.value) <= p.bound).all()) for p in promises)
