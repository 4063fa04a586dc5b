"""The timed kernels called with arrays of other numbers than those of their launches, against NumPy's own results."""

from collections.abc import Callable
from lzma import decompress
from pathlib import Path

import numpy as np
import pytest
from draws import few

import gpusim
from workloads.measured.whole import tables
from workloads.measured.whole.products import PRODUCTS

CUBIN = Path(tables.__file__).with_name("kernels.cubin.xz")
K = 64
BLOCKS = 3
COEFFICIENTS = np.random.default_rng(65).standard_normal(65).astype("f4")


def numbers(*shape, dtype="f4"):
    """Return normal numbers of that shape, the same at each call."""
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


def keys(blocks, count):
    """Return whole numbers, a row for each block."""
    return np.random.default_rng(7).integers(1 << 32, size=(blocks, count), dtype=np.uint32)


def softmax(x):
    """Return the softmax of each row."""
    powers = np.exp(x.astype("f8") - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def side_by_side(x):
    """Return arguments of transpose_nopad for a matrix, its tiles counted from left to right and from top to bottom."""
    return x, np.zeros(x.T.shape, x.dtype), np.int32(x.shape[1] // 32), np.int32(x.shape[0] // 32)


def histogram(words):
    """Return how often each value of the lower 8 bits comes, in each row."""
    return np.stack([np.bincount(row & 255, minlength=256) for row in words])


def weighted(x):
    """Return sums of three neighbours with the weights 0.25, 0.5 and 0.3."""
    return np.convolve(x.astype("f8"), [0.3, 0.5, 0.25], "valid")


def product(name):
    """Return the arguments of a matrix product of tiles in one row, and the product."""
    shape = PRODUCTS[name]
    rows, columns = shape.tile, BLOCKS * shape.tile
    a, b = numbers(rows, K, dtype=shape.dtype), numbers(K, columns, dtype=shape.dtype)[:, ::-1]
    stored = np.ascontiguousarray(b.T if shape.transposed else b)
    c = np.zeros((rows, columns), shape.dtype)
    pitches = (np.int32(n) for n in (K, K, stored.shape[1], columns))
    return (a, stored, c, *pitches), c, a.astype("f8") @ b.astype("f8")


def streams(given, expected, *more):
    """Return the arguments of a kernel from an array to an array, its output, and what that should hold."""
    out = np.zeros(expected.shape, given.dtype)
    return (given, out, *more), out, expected


def saxpy():
    """Return arguments and result of 1.5 x + y."""
    x, y, out = numbers(BLOCKS * 1024), numbers(1, BLOCKS * 1024)[0], np.zeros(BLOCKS * 1024, "f4")
    return (x, y, out, np.float32(1.5)), out, 1.5 * x + y


def transpose():
    """Return arguments and result of a transposition of tiles that lie side by side."""
    arguments = side_by_side(numbers(32, BLOCKS * 32))
    return arguments, arguments[1], arguments[0].T


WEIGHTS = tuple(np.float32(w) for w in (0.25, 0.5, 0.3))
ROWS = numbers(BLOCKS, 1024)
OTHERS: dict[str, Callable] = {
    "reduce_shfl": lambda: streams(numbers(BLOCKS, 2048), numbers(BLOCKS, 2048).astype("f8").sum(axis=1)),
    "stencil3": lambda: streams(numbers(BLOCKS * 1024 + 2), weighted(numbers(BLOCKS * 1024 + 2)), *WEIGHTS),
    "transpose_nopad": transpose,
    "softmax_row": lambda: streams(ROWS, softmax(ROWS)),
    "scan_hs": lambda: streams(numbers(BLOCKS, 512), numbers(BLOCKS, 512).astype("f8").cumsum(axis=1)),
    "hist_uniform": lambda: streams(keys(BLOCKS, 4096), histogram(keys(BLOCKS, 4096))),
    "poly_ilp2": lambda: streams(
        np.tanh(numbers(BLOCKS, 2048)), np.polynomial.polynomial.polyval(np.tanh(numbers(BLOCKS, 2048)), COEFFICIENTS)
    ),
    "bitonic": lambda: streams(keys(BLOCKS, 1024), np.sort(keys(BLOCKS, 1024), axis=1)),
    "saxpy": saxpy,
}


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """The cubin of all kernels, with other coefficients of the polynomial."""
    path = tmp_path_factory.mktemp("whole") / "kernels.cubin"
    path.write_bytes(decompress(CUBIN.read_bytes()))
    found = gpusim.RawModule(path=path)
    found.get_global("pc", "float32")[:] = COEFFICIENTS
    return found


@pytest.mark.jit
@pytest.mark.long
@pytest.mark.parametrize("name", few(tables.compiled(), 3))
def test_arrays_hold_what_numpy_finds(module, name):
    """Three blocks of each kernel, one of them timed, leave NumPy's result; sorted keys and counts without any error.

    Sums err by 1e-4 of the result's largest number at most: K = 64 products, or 2048 terms, of single precision.
    """
    one = tables.compiled()[name]
    arguments, out, expected = product(name) if name in PRODUCTS else OTHERS[name]()
    records = np.zeros(6 * BLOCKS * one.threads // 32, np.uint32)
    grid = (BLOCKS,)
    result = module.get_function(one.symbol)(grid, (one.threads,), (*arguments, records))
    error = {"f": 1e-4, "u": 0, "d": 1e-12}[out.dtype.char if out.dtype.kind == "f" else out.dtype.kind]
    np.testing.assert_allclose(out, expected, rtol=0, atol=error * np.abs(expected).max())
    assert records[5::6].tolist() == [warp // (one.threads // 32) for warp in range(len(records) // 6)]
    assert result.cycles > 0
