"""What NumPy gives for the CUDA examples: `python examples/cuda/expected.py` writes it beside them, in .npy files.

Inputs are those of the launch files, so that a change of a launch needs no change here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.launch.file import arguments, source

Array = NDArray[Any]
HERE = Path(__file__).parent
COLOURS = (
    0x000000, 0x0000AA, 0x00AA00, 0x00AAAA, 0xAA0000, 0xAA00AA, 0xAA5500, 0xAAAAAA,
    0x555555, 0x5555FF, 0x55FF55, 0x55FFFF, 0xFF5555, 0xFF55FF, 0xFFFF55, 0xFFFFFF,
)  # fmt: skip
KINDS = "u1", "i1", "u2", "i2", "u4", "f4"  # of the elements of a file, smallest first


def compact(given: Mapping[str, Any]) -> dict[str, Array]:
    """Return the positive numbers of each block at its beginning, and how many they are."""
    blocks = given["numbers"].reshape(-1, given["threads"])
    kept = np.zeros_like(blocks)
    for block, places in zip(blocks, kept, strict=True):
        places[: (block > 0).sum()] = block[block > 0]
    return {"kept": kept, "counts": (blocks > 0).sum(axis=1)}


def dot_double(given: Mapping[str, Any]) -> dict[str, Array]:
    """Return the sum of each block, whose threads take every 1024th product; they and all sums are exact."""
    rounds = (given["x"] * given["y"]).reshape(-1, len(given["parts"]), given["threads"])
    return {"parts": rounds.sum(axis=(0, 2))}


def fibonacci(given: Mapping[str, Any]) -> dict[str, Array]:
    """Return the first eight Fibonacci numbers, again and again."""
    first = [0, 1]
    while len(first) < 8:
        first.append(first[-2] + first[-1])
    return {"numbers": np.resize(first, len(given["numbers"]))}


def histogram(given: Mapping[str, Any]) -> dict[str, Array]:
    """Return how many keys have each lowest byte."""
    return {"bins": np.bincount(given["keys"] & 255, minlength=256)}


def mandelbrot(given: Mapping[str, Any]) -> dict[str, Array]:
    """Return the rounds of each point, in the kernel's single precision without fused multiply-adds."""
    one, width, height = np.float32, given["width"], given["height"]
    real = one(-2) + one(3) * np.arange(width, dtype=one) / one(width)
    imaginary = one(-1) + one(2) * np.arange(height, dtype=one) / one(height)
    rounds = np.zeros((height, width), np.int64)
    zr, zi = np.zeros((height, width), one), np.zeros((height, width), one)
    for _ in range(given["most"]):
        inside = zr * zr + zi * zi < 4
        rounds += inside
        moved = zr * zr - zi * zi + real, one(2) * zr * zi + imaginary[:, None]
        zr, zi = (np.where(inside, new, old) for new, old in zip(moved, (zr, zi), strict=True))
    return {"rounds": rounds}


def matmul(given: Mapping[str, Any]) -> dict[str, Array]:
    """Return the product, exact but for the rounding to single precision."""
    a, b = (given[name].reshape(given["n"], given["n"]).astype(np.float64) for name in ("a", "b"))
    return {"c": (a @ b).astype(np.float32)}


def palette(given: Mapping[str, Any]) -> dict[str, Array]:
    """Return the colour of each pixel."""
    return {"colours": np.array(COLOURS)[given["pixels"] & 15]}


def reverse(given: Mapping[str, Any]) -> dict[str, Array]:
    """Return the numbers of each block from the last to the first."""
    return {"out": given["in"].reshape(-1, given["threads"])[:, ::-1]}


def sort_local(given: Mapping[str, Any]) -> dict[str, Array]:
    """Return each eight numbers sorted."""
    return {"sorted": np.sort(given["numbers"].reshape(-1, 8))}


RESULTS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Array]]] = {
    one.__name__: one
    for one in (compact, dot_double, fibonacci, histogram, mandelbrot, matmul, palette, reverse, sort_local)
}


def given(name: str) -> dict[str, Any]:
    """Return the arguments of an example's launch by name, arrays and numbers, and the `threads` of a block."""
    launch = source.read(HERE / f"{name}.toml")
    numbers = {one.name: one.value for one in launch.file.argument if one.value is not None}
    arrays = {
        one.name: one.fill(np.arange(one.elements)) if one.fill else np.zeros(one.elements, one.dtype)
        for one in arguments.buffers(launch)
    }
    return {**numbers, **arrays, "threads": prod(launch.file.block)}


def files(name: str) -> dict[Path, Array]:
    """Return what each .npy file of an example holds, in the smallest type that does."""
    results = RESULTS[name](given(name))
    return {HERE / f"{name}.{buffer}.npy": _small(result.reshape(-1)) for buffer, result in results.items()}


def _small(values: Array) -> Array:
    fitting = (values.astype(kind) for kind in KINDS)
    with np.errstate(invalid="ignore"):
        return next((one for one in fitting if np.array_equal(one, values)), values)


if __name__ == "__main__":
    for example in RESULTS:
        for path, values in files(example).items():
            np.save(path, values)
