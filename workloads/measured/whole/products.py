"""The timed matrix products, C = A B with rows one after another: a tile of C for each block."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.kernel import Buffer, Expectation
from isa.memory import elements
from workloads.gemm.problem import HIGHER
from workloads.measured.whole.numbers import UnitFill
from workloads.measured.whole.tables import Timed
from workloads.measured.whole.task import Task, integer, rounded

_FIRST = {"A": 0, "B": 32 << 20}  # of the numbers in a matrix
_SEEDS = {"f4": 1, "f8": 2}


@dataclass(frozen=True, slots=True)
class Product:
    """The side of a block's square tile, the type of the elements, and whether B is stored transposed."""

    tile: int
    dtype: str = "f4"
    transposed: bool = False


PRODUCTS = {
    "sgemm_naive_u4": Product(16),
    "sgemm_tile16": Product(16),
    "sgemm_64x64_4x4_v1": Product(64),
    "sgemm_64x64_4x4_v4_pre": Product(64),
    "sgemm_96x96_6x6_v2": Product(96),
    "sgemm_96x96_6x6_v1_pre": Product(96),
    "sgemm_128x128_8x8_v4": Product(128),
    "sgemm_128x128_8x8_v1_pre": Product(128),
    "sgemm_128x128_8x8_v2_db": Product(128),
    "sgemm_128x128_8x8_v4_pre_NT": Product(128, transposed=True),
    "dgemm_64x64_4x4_v1": Product(64, "f8"),
    "dgemm_64x64_4x4_v2_pre": Product(64, "f8"),
}


def task(launch: Timed) -> Task:
    """Return the product of a launch."""
    product = PRODUCTS[launch.kernel]
    rows, columns, k = launch.grid_y * product.tile, launch.grid_x * product.tile, launch.k
    pitch_of_b = k if product.transposed else columns
    return Task(
        buffers=(
            Buffer("A", product.dtype, rows * k, _fill(product, "A")),
            Buffer("B", product.dtype, k * columns, _fill(product, "B")),
            Buffer("C", product.dtype, rows * columns),
        ),
        arguments=("A", "B", "C", integer(k), integer(k), integer(pitch_of_b), integer(columns)),
        expected=partial(_tile, launch),
        flops=2 * rows * columns * k,
    )


def _fill(product: Product, matrix: str) -> UnitFill:
    return UnitFill(_SEEDS[product.dtype], _FIRST[matrix], product.dtype)


def _tile(launch: Timed, block: int) -> Expectation:
    """Return a block's tile of C: k fused multiply-adds for each element."""
    product = PRODUCTS[launch.kernel]
    columns = launch.grid_x * product.tile
    row = block // launch.grid_x * product.tile + np.arange(product.tile)
    column = block % launch.grid_x * product.tile + np.arange(product.tile)
    step = np.arange(launch.k)
    of_b = column * launch.k + step[:, None] if product.transposed else step[:, None] * columns + column
    a, b = _elements(product, "A", row[:, None] * launch.k + step), _elements(product, "B", of_b)
    index = (row[:, None] * columns + column).ravel()
    roundings = launch.k + (product.dtype == "f8")  # one more: of the reference, to double
    return rounded("C", index, (a @ b).ravel(), (abs(a) @ abs(b)).ravel(), roundings, product.dtype)


def _elements(product: Product, matrix: str, index: NDArray[np.int64]) -> NDArray[Any]:
    """Return elements in higher precision."""
    return elements(_fill(product, matrix), index, product.dtype).astype(HIGHER[product.dtype, 1])
