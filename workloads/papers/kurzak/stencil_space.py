"""The search space of the GEMM stencil, pruned as Kurzak, Tomov and Dongarra do ("Autotuning GEMMs", PPAM 2011).

A point has nine numbers: the tile, blk_m by blk_n of C in steps of blk_k along k, and three shapes of the same threads:
dim_x by dim_y to compute C, dim_xa by dim_ya to read A, dim_xb by dim_yb to read B. The slides name the constraints and
give counts for ZGEMM, but not every definition; the missing ones are chosen here:

* registers: those for the innermost loop's values, e (r_C + r_A + r_B + f_A + f_B) words per thread, with elements of e
  words: sums, a line of A and of B, and the elements of the next tiles in transfer; addresses are not counted.
* shared memory: the tiles that the kernel declares, sA[blk_k][blk_m + 1] and sB[blk_n][blk_k + 1].
* loads per FMA: real numbers loaded from shared memory for each FMA of elements, a complex one counted once.

The constraints only require of the shapes that read A and B that they tile; a row's weight is the number of such
shapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from fractions import Fraction
from functools import partial
from types import MappingProxyType

import numpy as np

from isa.program import WORD_BYTES
from workloads import space as spaces
from workloads.check import counts, one_of
from workloads.papers.kurzak.stencil import LAYOUTS
from workloads.papers.kurzak.stencil_tuning import PUBLISHED, TUNING, published_tuning
from workloads.space import WEIGHT, Column, Columns, Constraint, Limits, Mask, Point, Published, Size, Space, Stage

AXES = tuple(TUNING)
WORDS = {"s": 1, "d": 2, "c": 2, "z": 4}  # 32-bit words of an element
NUMBERS = {"s": 1, "d": 1, "c": 2, "z": 2}  # real numbers of an element
SIDE = 256  # the slides' "256^9"
# The slides' table of compute capability 2.x, to which their counts apply.
FERMI = MappingProxyType(
    {"warp_size": 32, "threads_per_block": 1024, "blocks": 8, "warps": 48, "threads": 1536}
    | {"registers": 32768, "shared_bytes": 49152}
)
ZGEMM = Published(
    MappingProxyType({"shared memory": 99_519, "occupancy": 492, "blocks per SM": 211}),
    FERMI,
    "Kurzak, Tomov and Dongarra, PPAM 2011",
)


def stencil_space(
    precision: str,
    occupancy: Fraction = Fraction(1, 3),
    loads: Fraction = Fraction(2),
    blocks: int = 2,
    side: int = SIDE,
    layout: str = "nn",
) -> Space:
    """Build the space of one precision: s, d, c or z.

    The soft constraints are `occupancy`, of the threads that an SM holds, `loads` per FMA at most, and `blocks` per SM
    at least; no number of a point is above `side`. `layout` is n, t or c for A, then for B: the columns of a transposed
    matrix run along k (A) or n (B), and so does the x of the threads that read it. Raises UserError for invalid values.
    """
    name = f"{precision}gemm"
    one_of(name, "precision", precision, WORDS)
    one_of(name, "layout", layout, LAYOUTS[NUMBERS[precision]])
    counts(name, 1, side=side)
    counts(name, 0, blocks=blocks)
    return Space(
        name=name,
        kernel="gemm-stencil",
        axes=AXES,
        counted=partial(_counted, side),
        rows=partial(_rows, side),
        constraints=(*_hard(precision, layout), *_soft(precision, occupancy, loads, blocks)),
        points=partial(_points, layout),
        parameters=partial(_parameters, precision, layout),
        tile=_tile,
        winner=asdict(published_tuning(precision, layout)),
        published=ZGEMM if precision == "z" else None,
    )


def registers_per_block(precision: str, columns: Columns) -> Column:
    """Return the 32-bit registers of a block's values in the innermost loop, by row."""
    m, n, k, threads = (columns[name] for name in ("m", "n", "k", "threads"))
    rows, wide = _thread_tile(columns)
    words: Column = m * n + (rows + wide) * threads + m * k + k * n
    return WORDS[precision] * words


def shared_per_block(precision: str, columns: Columns) -> Column:
    """Return the shared memory of a block in bytes, by row: both tiles, each with an extra column."""
    m, n, k = (columns[name] for name in ("m", "n", "k"))
    return WORD_BYTES * WORDS[precision] * (k * (m + 1) + n * (k + 1))


def blocks_per_sm(precision: str, columns: Columns, limits: Limits) -> Column:
    """Return the resident blocks of an SM, by row."""
    need = registers_per_block(precision, columns), shared_per_block(precision, columns)
    return spaces.blocks_per_sm(limits, columns["threads"], *need)


def winner_threads(precision: str, limits: Limits) -> int:
    """Return the resident threads of an SM that runs the published winner."""
    tuning = PUBLISHED[precision]["nn"]
    values = (tuning.blk_m, tuning.blk_n, tuning.blk_k, tuning.dim_x, tuning.threads)
    columns = {name: np.array([value]) for name, value in zip(("m", "n", "k", "x", "threads"), values, strict=True)}
    return int(blocks_per_sm(precision, columns, limits)[0]) * tuning.threads


def _thread_tile(columns: Columns) -> tuple[Column, Column]:
    """Return the rows and columns of C that a thread computes."""
    x, y = columns["x"], columns["threads"] // columns["x"]
    return columns["m"] // x, columns["n"] // y


def _hard(precision: str, layout: str) -> tuple[Constraint, ...]:
    """Return the constraints that a point must satisfy to run at all."""
    a = "dim_xa | blk_m, dim_ya | blk_k" if layout[0] == "n" else "dim_xa | blk_k, dim_ya | blk_m"
    b = "dim_xb | blk_k, dim_yb | blk_n" if layout[1] == "n" else "dim_xb | blk_n, dim_yb | blk_k"
    shape = f"dim_x | blk_m, dim_y | blk_n; {a}; {b}"
    e = WORDS[precision]
    words = f"{e} x " if e > 1 else ""
    return (
        Constraint("tiling", "hard", f"the shapes tile what they compute or read: {shape}", spaces.every),
        Constraint(
            "registers",
            "hard",
            f"of a block: {words}(r_C + r_A + r_B + f_A + f_B) dim_x dim_y <= registers of an SM",
            lambda columns, limits: registers_per_block(precision, columns) <= limits.registers,
        ),
        Constraint(
            "shared memory",
            "hard",
            f"of a block: {WORD_BYTES * e} x (blk_k (blk_m + 1) + blk_n (blk_k + 1)) bytes <= those of an SM",
            lambda columns, limits: shared_per_block(precision, columns) <= limits.shared_bytes,
        ),
    )


def _soft(precision: str, occupancy: Fraction, loads: Fraction, blocks: int) -> tuple[Constraint, ...]:
    """Return the constraints that a point must satisfy to promise speed."""
    return (
        Constraint(
            "occupancy",
            "soft",
            f"resident threads >= {occupancy} of those that an SM holds",
            partial(_occupied, precision, occupancy),
        ),
        Constraint(
            "loads per FMA",
            "soft",
            f"{NUMBERS[precision]} x (r_A + r_B) <= {loads} r_C: real numbers loaded, per FMA of elements",
            partial(_few_loads, precision, loads),
        ),
        Constraint(
            "blocks per SM",
            "soft",
            f"{blocks} resident blocks or more",
            lambda columns, limits: blocks_per_sm(precision, columns, limits) >= blocks,
        ),
    )


def _occupied(precision: str, occupancy: Fraction, columns: Columns, limits: Limits) -> Mask:
    resident_threads = blocks_per_sm(precision, columns, limits) * columns["threads"]
    mask: Mask = resident_threads * occupancy.denominator >= occupancy.numerator * limits.threads
    return mask


def _few_loads(precision: str, loads: Fraction, columns: Columns, _: Limits) -> Mask:
    rows, wide = _thread_tile(columns)
    mask: Mask = NUMBERS[precision] * (rows + wide) * loads.denominator <= loads.numerator * rows * wide
    return mask


def _counted(side: int, limits: Limits) -> tuple[Stage, ...]:
    """Return the stages that need no list: shapes with equal thread counts, times every tile."""
    shapes = {threads: len(_widths(threads, side)) ** 3 for threads in range(1, limits.threads_per_block + 1)}
    warps = sum(count for threads, count in shapes.items() if threads % limits.warp_size == 0)
    return (
        Stage("points", "", f"nine numbers from 1 to {side}", side**9),
        Stage(
            "threads",
            "hard",
            f"dim_x dim_y = dim_xa dim_ya = dim_xb dim_yb <= {limits.threads_per_block}",
            side**3 * sum(shapes.values()),
        ),
        Stage("warps", "hard", f"threads of a block are a multiple of {limits.warp_size}", side**3 * warps),
    )


def _widths(threads: int, side: int) -> list[int]:
    """Return the widths of all shapes of so many threads."""
    return [x for x in range(1, min(threads, side) + 1) if threads % x == 0 and threads // x <= side]


def _rows(side: int, limits: Limits) -> Iterator[Columns]:
    """Yield rows of tiles and shapes for C, of whole warps; the weight counts the shapes that read A and B."""
    for threads in range(limits.warp_size, limits.threads_per_block + 1, limits.warp_size):
        if widths := _widths(threads, side):
            fits = _fits(threads, side, widths)
            yield from (_rows_of(threads, x, fits) for x in widths)


def _fits(threads: int, side: int, widths: list[int]) -> Column:
    """Return how many of the shapes tile a by b elements, [a - 1, b - 1]."""
    lengths, x = np.arange(1, side + 1)[:, None], np.array(widths)
    shapes: Column = (lengths % x == 0).astype(np.int64) @ (lengths % (threads // x) == 0).astype(np.int64).T
    return shapes


def _rows_of(threads: int, x: int, fits: Column) -> Columns:
    """Return rows of one shape for C."""
    side, y = len(fits), threads // x
    m, n, k = np.arange(x, side + 1, x), np.arange(y, side + 1, y), np.arange(1, side + 1)
    weight = fits[m - 1][:, None, :] * fits.T[n - 1][None, :, :]
    at = np.nonzero(weight)
    chosen = {name: lengths[index] for name, lengths, index in zip("mnk", (m, n, k), at, strict=True)}
    same = {name: np.full(len(at[0]), value) for name, value in (("x", x), ("threads", threads))}
    return chosen | same | {WEIGHT: weight[at]}


def _points(layout: str, columns: Columns) -> Column:
    """Write out the shapes for A and B of each row, [point, axis]."""
    names = ("m", "n", "k", "x", "threads")
    rows = [
        (m, n, k, x, threads // x, xa, threads // xa, xb, threads // xb)
        for m, n, k, x, threads in zip(*(columns[name].tolist() for name in names), strict=True)
        for xa in _tiling(threads, *((m, k) if layout[0] == "n" else (k, m)))
        for xb in _tiling(threads, *((k, n) if layout[1] == "n" else (n, k)))
    ]
    return np.array(rows, np.int64).reshape(len(rows), len(AXES))


def _tiling(threads: int, along_x: int, along_y: int) -> list[int]:
    """Return the widths of the shapes that tile so many elements."""
    return [x for x in range(1, along_x + 1) if along_x % x == threads % x == 0 and along_y % (threads // x) == 0]


def _parameters(precision: str, layout: str, point: Point) -> Mapping[str, str]:
    return {"precision": precision, "layout": layout, **{axis: str(value) for axis, value in point.items()}}


def _tile(point: Point) -> Size:
    return point["blk_m"], point["blk_n"], point["blk_k"]
