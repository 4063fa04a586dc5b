"""What NumPy gives for the examples of tensor cores: `python examples/tensor/expected.py` writes it beside them.

Inputs are those of the launch files, so that a change of a launch needs no change here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.launch.file import arguments, source

Array = NDArray[Any]
HERE = Path(__file__).parent
KINDS = "i1", "i2", "i4", "f2", "f4"  # of the elements of a file, smallest first
LINE = 128  # numbers of a line of pipeline.cu
IMAGE_WIDTH = 100  # numbers of a row of tma.toml's image
HEAD = 64  # numbers of a query, and of a key


def product(given: Mapping[str, Any]) -> Array:
    """Return A B, B by rows; exact in double precision."""
    return _matrix(given["a"], given["depth"]) @ _matrix(given["b"], given["n"])


def product_transposed(given: Mapping[str, Any]) -> Array:
    """Return A B, B by columns; exact in double precision."""
    return _matrix(given["a"], given["depth"]) @ _matrix(given["b"], given["depth"]).T


def columns(given: Mapping[str, Any]) -> Array:
    """Return the sums of the columns of each block's matrix, which are exact."""
    return given["x"].astype(np.float64).reshape(-1, given["lines"], LINE).sum(axis=1)


def attention(given: Mapping[str, Any]) -> Array:
    """Return the mean of values by the softmax of each query's products with the keys, as halves."""
    q, k, v = (_matrix(given[name], HEAD) for name in "qkv")
    weights = np.exp(q @ k.T / np.sqrt(HEAD))
    return (weights / weights.sum(axis=1, keepdims=True) @ v).astype(np.float16)


def stencil(given: Mapping[str, Any]) -> Array:
    """Return the sum of each number's four neighbours, zeros beyond the image, less four times itself."""
    image = _matrix(given["image"], IMAGE_WIDTH)
    wide = np.pad(image, 1)
    around = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
    return (around - 4 * image).astype(np.float32)


def scaled(given: Mapping[str, Any]) -> Array:
    """Return each row over its sum, as singles; a row is what a cluster's four blocks have."""
    rows = _matrix(given["x"], 4 * given["quarter"])
    return (rows / rows.sum(axis=1, keepdims=True)).astype(np.float32)


RESULTS: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], Array]]] = {
    "cluster": ("y", scaled),
    "cp_async": ("c", product),
    "flash": ("o", attention),
    "fp64": ("c", product),
    "int8": ("c", product_transposed),
    "mma_sync": ("c", product),
    "pipeline": ("sums", columns),
    "tma": ("result", stencil),
    "wgmma": ("c", product_transposed),
    "wmma": ("c", product),
}


def given(name: str) -> dict[str, Any]:
    """Return the arguments of an example's launch by name, arrays and numbers."""
    launch = source.read(HERE / f"{name}.toml")
    numbers = {one.name: one.value for one in launch.file.argument if one.value is not None}
    arrays = {one.name: one.fill(np.arange(one.elements)) for one in arguments.buffers(launch) if one.fill}
    return {**numbers, **arrays}


def file(name: str) -> tuple[Path, Array]:
    """Return the .npy file of an example and what it holds, in the smallest type that does."""
    buffer, result = RESULTS[name]
    return HERE / f"{name}.{buffer}.npy", _small(result(given(name)).reshape(-1))


def _matrix(elements: Array, columns: int) -> Array:
    return elements.astype(np.float64).reshape(-1, columns)


def _small(values: Array) -> Array:
    with np.errstate(invalid="ignore", over="ignore"):
        fitting = (values.astype(kind) for kind in KINDS)
        return next((one for one in fitting if np.array_equal(one, values)), values)


if __name__ == "__main__":
    for example in RESULTS:
        np.save(*file(example))
