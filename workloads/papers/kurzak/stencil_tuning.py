"""The nine tuning parameters of the GEMM stencil, their published values, and the conditions on them.

A block of dim_x by dim_y threads computes a tile of C of blk_m by blk_n in steps of blk_k along k. The same threads
read a tile of A as dim_xa by dim_ya and one of B as dim_xb by dim_yb, x along the matrix's columns as they are stored.
Source of names and winners: Kurzak, Tomov and Dongarra (PPAM 2011), and the Fermi kernels of MAGMA 1.5, their product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from isa.errors import UserError
from workloads.check import block_shape, counts, multiple

NAME = "gemm-stencil"


@dataclass(frozen=True, slots=True)
class Tuning:
    """Tile of C and step along k; shapes of the threads that compute C, read A and read B."""

    blk_m: int
    blk_n: int
    blk_k: int
    dim_x: int
    dim_y: int
    dim_xa: int
    dim_ya: int
    dim_xb: int
    dim_yb: int

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.dim_x * self.dim_y

    @property
    def thr_m(self) -> int:
        """Rows of C that a thread computes."""
        return self.blk_m // self.dim_x

    @property
    def thr_n(self) -> int:
        """Columns of C that a thread computes."""
        return self.blk_n // self.dim_y


TUNING = {  # by name; the published one is the default
    "blk_m": "rows of a tile of C",
    "blk_n": "columns of a tile of C",
    "blk_k": "step along k",
    "dim_x": "threads along the rows of C",
    "dim_y": "threads along the columns of C",
    "dim_xa": "threads along stored columns of A as they read it",
    "dim_ya": "threads from column to column of A",
    "dim_xb": "threads along stored columns of B as they read it",
    "dim_yb": "threads from column to column of B",
}

_S, _DC = (96, 96, 16, 16, 16), (64, 64, 16, 16, 16)
_Z, _Z_TALL = (24, 16, 8, 8, 8), (16, 24, 8, 8, 8)
_SQUARE, _EIGHT = (16, 16, 16, 16), (8, 8, 8, 8)
PUBLISHED = {  # by precision, then by whether A and B are transposed
    "s": {
        "nn": Tuning(*_S, 32, 8, 8, 32),
        "nt": Tuning(*_S, 32, 8, 32, 8),
        "tn": Tuning(*_S, *_SQUARE),
        "tt": Tuning(*_S, 16, 16, 32, 8),
    },
    "d": dict.fromkeys(("nn", "nt", "tn", "tt"), Tuning(*_DC, *_SQUARE)),
    "c": {
        "nn": Tuning(*_DC, 32, 8, 16, 16),
        "nt": Tuning(*_DC, *_SQUARE),
        "tn": Tuning(*_DC, *_SQUARE),
        "tt": Tuning(*_DC, 16, 16, 32, 8),
    },
    "z": {
        "nn": Tuning(*_Z, *_EIGHT),
        "nt": Tuning(*_Z_TALL, *_EIGHT),
        "tn": Tuning(*_Z, *_EIGHT),
        "tt": Tuning(*_Z_TALL, 4, 16, 8, 8),
    },
}


def published_tuning(precision: str, layout: str) -> Tuning:
    """Return the published parameters; a conjugate matrix is read like a transposed one."""
    return PUBLISHED[precision][layout.replace("c", "t")]


def check(tuning: Tuning, layout: str) -> None:
    """Raise UserError unless the threads' three shapes have equal thread counts, and each divides its tile."""
    for name in TUNING:
        counts(NAME, 1, **{name: getattr(tuning, name)})
    block_shape(NAME, dim_x=tuning.dim_x, dim_y=tuning.dim_y)
    for x, y in (("dim_xa", "dim_ya"), ("dim_xb", "dim_yb")):
        across, along = getattr(tuning, x), getattr(tuning, y)
        if across * along != tuning.threads:
            product = f"{x}={across} {y}={along} makes {across * along} threads"
            other = f"dim_x={tuning.dim_x} dim_y={tuning.dim_y} {tuning.threads}"
            raise UserError(f"{NAME}: {product}, {other}; give all three as many")
    for whole, part in _shapes(layout):
        multiple(NAME, whole, getattr(tuning, whole), getattr(tuning, part), part)


def _shapes(layout: str) -> Iterator[tuple[str, str]]:
    """Yield a side of a tile, and the side of the threads' shape that must divide it."""
    yield from (("blk_m", "dim_x"), ("blk_n", "dim_y"))
    yield from (
        (("blk_m", "dim_xa"), ("blk_k", "dim_ya")) if layout[0] == "n" else (("blk_k", "dim_xa"), ("blk_m", "dim_ya"))
    )
    yield from (
        (("blk_k", "dim_xb"), ("blk_n", "dim_yb")) if layout[1] == "n" else (("blk_n", "dim_xb"), ("blk_k", "dim_yb"))
    )
