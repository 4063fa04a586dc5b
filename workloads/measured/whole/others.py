"""The timed kernels that are no matrix products: what each block of them gets and computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from isa.kernel import Buffer, Expectation
from isa.memory import elements
from workloads.measured.whole.numbers import KeyFill, UnitFill
from workloads.measured.whole.tables import Timed
from workloads.measured.whole.task import Indices, Task, exact, integer, rounded, single

_NUMBERS = UnitFill(3, 0, "f4")
_SECOND = UnitFill(3, 20 << 20, "f4")  # saxpy's y
_WEIGHTS = np.array([0.25, 0.5, 0.3], np.float32)  # of stencil3
_FACTOR = 1.5  # of saxpy
_COEFFICIENTS = np.float32(1) / np.arange(1, 66, dtype=np.float32) * np.where(np.arange(65) % 2, -1, 1).astype("f4")
_SIDE = 32  # of a tile of transpose_nopad
_BINS, _KEYS = 256, 4096  # of a block of hist_uniform
_STREAM, _SUM, _ROW, _SORTED = 1024, 2048, 512, 1024  # elements of a block


def task(launch: Timed) -> Task:
    """Return the task of a launch."""
    return OTHERS[launch.kernel](launch)


def tiles_in_row(blocks: int) -> int:
    """Return how many tiles lie side by side in the matrix that so many blocks of transpose_nopad get."""
    if blocks >= 1 << 14:
        return 128
    return 12 if blocks % 12 == 0 else 1


def _reduce(launch: Timed) -> Task:
    return Task(_floats(launch, _SUM, 1), ("in", "out"), partial(_sum, launch), _SUM * launch.blocks)


def _stencil(launch: Timed) -> Task:
    return Task(
        _floats(launch, _STREAM, _STREAM, more=len(_WEIGHTS) - 1),
        ("in", "out", *map(single, _WEIGHTS.tolist())),
        partial(_of_stencil, launch),
        5 * _STREAM * launch.blocks,
    )


def _transpose(launch: Timed) -> Task:
    across = tiles_in_row(launch.blocks)
    sizes = integer(across), integer(launch.blocks // across)
    return Task(_floats(launch, _SIDE**2, _SIDE**2), ("in", "out", *sizes), partial(_transposed, launch))


def _softmax(launch: Timed) -> Task:
    buffers = _floats(launch, _STREAM, _STREAM)
    return Task(buffers, ("in", "out"), partial(_exponentials, launch), 5 * _STREAM * launch.blocks)


def _scan(launch: Timed) -> Task:
    return Task(_floats(launch, _ROW, _ROW), ("in", "out"), partial(_sums, launch), 9 * _ROW * launch.blocks)


def _histogram(launch: Timed) -> Task:
    keys = KeyFill(88172645463325252, 20, _KEYS * launch.blocks)
    return Task(_words(launch, keys, _BINS), ("in", "out"), partial(_counts, keys))


def _polynomial(launch: Timed) -> Task:
    return Task(
        _floats(launch, _SUM, _SUM),
        ("in", "out"),
        partial(_horner, launch),
        2 * (len(_COEFFICIENTS) - 1) * _SUM * launch.blocks,
        _COEFFICIENTS.tobytes(),
    )


def _sort(launch: Timed) -> Task:
    keys = KeyFill(1234567, 16, _SORTED * launch.blocks)
    return Task(_words(launch, keys, _SORTED), ("in", "out"), partial(_in_order, keys))


def _saxpy(launch: Timed) -> Task:
    x, z = _floats(launch, _STREAM, _STREAM)
    y = Buffer("second", "f4", x.elements, _SECOND)
    arguments = ("in", "second", "out", single(_FACTOR))
    return Task((x, y, z), arguments, partial(_scaled_sum, launch), 2 * _STREAM * launch.blocks)


OTHERS: Mapping[str, Callable[[Timed], Task]] = MappingProxyType(
    {
        "reduce_shfl": _reduce,
        "stencil3": _stencil,
        "transpose_nopad": _transpose,
        "softmax_row": _softmax,
        "scan_hs": _scan,
        "hist_uniform": _histogram,
        "poly_ilp2": _polynomial,
        "bitonic": _sort,
        "saxpy": _saxpy,
    }
)


def _floats(launch: Timed, inputs: int, outputs: int, more: int = 0) -> tuple[Buffer, Buffer]:
    """Return buffers with so many elements for each block, and a few more behind those of the last."""
    given = Buffer("in", "f4", inputs * launch.blocks + more, _NUMBERS)
    return given, Buffer("out", "f4", outputs * launch.blocks)


def _words(launch: Timed, keys: KeyFill, outputs: int) -> tuple[Buffer, Buffer]:
    return Buffer("in", "u4", keys.elements, keys), Buffer("out", "u4", outputs * launch.blocks)


def _place(block: int, size: int) -> Indices:
    return block * size + np.arange(size)


def _doubles(index: Indices, fill: UnitFill = _NUMBERS) -> NDArray[np.float64]:
    return elements(fill, index, "f4").astype(np.float64)


def _sum(_launch: Timed, block: int) -> Expectation:
    """Return the sum of a block, of which each element goes through 8 additions in a thread and 8 of lanes."""
    x = _doubles(_place(block, _SUM))
    return rounded("out", np.array([block]), x.sum(keepdims=True), abs(x).sum(keepdims=True), 16)


def _of_stencil(_launch: Timed, block: int) -> Expectation:
    """Return the weighted sums of three neighbours; a product may be rounded, and the two sums are."""
    index = _place(block, _STREAM)
    terms = _WEIGHTS.astype(np.float64) * np.stack([_doubles(index + i) for i in range(len(_WEIGHTS))], axis=1)
    return rounded("out", index, terms.sum(axis=1), abs(terms).sum(axis=1), 3)


def _transposed(launch: Timed, block: int) -> Expectation:
    across = tiles_in_row(launch.blocks)
    row, column = (part * _SIDE + np.arange(_SIDE) for part in divmod(block, across))
    x = _doubles(row[:, None] * across * _SIDE + column)
    index = column * (launch.blocks // across) * _SIDE + row[:, None]
    return exact("out", index.ravel(), x.ravel())


def _exponentials(_launch: Timed, block: int) -> Expectation:
    """Return the softmax of a row.

    A difference of at most 2 is rounded (2 roundings), __expf errs by 4 ulp or 8 roundings for such numbers (CUDA C++
    Programming Guide 13.0, intrinsic functions): twice, the second time in the sum, of 16 additions; then the
    reciprocal and the product.
    """
    index = _place(block, _STREAM)
    x = _doubles(index)
    powers = np.exp(x - x.max())
    return rounded("out", index, powers / powers.sum(), powers / powers.sum(), 10 + 10 + 16 + 2)


def _sums(_launch: Timed, block: int) -> Expectation:
    """Return the inclusive scan of a block; each of the 9 steps adds once."""
    index = _place(block, _ROW)
    x = _doubles(index)
    return rounded("out", index, x.cumsum(), abs(x).cumsum(), 9)


def _counts(keys: KeyFill, block: int) -> Expectation:
    found = np.bincount(keys(_place(block, _KEYS)) % _BINS, minlength=_BINS)
    return exact("out", _place(block, _BINS), found)


def _horner(_launch: Timed, block: int) -> Expectation:
    """Return the polynomial; a coefficient goes through as many fused steps as its power."""
    index = _place(block, _SUM)
    powers = _doubles(index) ** np.arange(len(_COEFFICIENTS))[:, None]
    terms = _COEFFICIENTS.astype(np.float64)[:, None] * powers
    return rounded("out", index, terms.sum(axis=0), abs(terms).sum(axis=0), len(_COEFFICIENTS) - 1)


def _in_order(keys: KeyFill, block: int) -> Expectation:
    index = _place(block, _SORTED)
    return exact("out", index, np.sort(keys(index)))


def _scaled_sum(_launch: Timed, block: int) -> Expectation:
    index = _place(block, _STREAM)
    x, y = _FACTOR * _doubles(index), _doubles(index, _SECOND)
    return rounded("out", index, x + y, abs(x + y), 1)
