"""What NumPy gives for the tuned kernels at the sizes of their checks: `python examples/tuning/expected.py` writes it.

Sizes and inputs are those of the space files, so that a change there needs no change here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.analysis.search import space_file
from gpusim.launch.file import arguments

Array = NDArray[Any]
HERE = Path(__file__).parent
BINOMIAL = np.array([1, 6, 15, 20, 15, 6, 1]) / 64  # a blur whose weights add up to 1


def sgemm(given: Mapping[str, Any]) -> dict[str, Array]:
    """Return the product, exact but for the rounding to single precision."""
    a = given["a"].reshape(given["M"], given["K"]).astype(np.float64)
    return {"c": a @ given["b"].reshape(given["K"], given["N"])}


def convolution(given: Mapping[str, Any]) -> dict[str, Array]:
    """Return the filter, and the blurred image, exact but for the rounding to single precision."""
    width, height = given["WIDTH"], given["HEIGHT"]
    image = given["image"].reshape(height + 6, width + 8).astype(np.float64)
    weights = np.outer(BINOMIAL, BINOMIAL)
    places = [(i, j) for i in range(7) for j in range(7)]
    return {
        "filter": weights,
        "result": sum(weights[i, j] * image[i : i + height, j : j + width] for i, j in places),
    }


RESULTS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Array]]] = {
    one.__name__: one for one in (convolution, sgemm)
}


def given(name: str) -> dict[str, Any]:
    """Return the sizes of a space file's check, and its buffers as they are before the launch."""
    space = space_file.at_check(space_file.read(HERE / f"{name}.toml"))
    launch = space_file.launch(space, space_file.points(space)[0])
    buffers = arguments.buffers(launch)
    return {**space.sizes, **{one.name: one.fill(np.arange(one.elements)) for one in buffers if one.fill}}


def files(name: str) -> dict[Path, Array]:
    """Return what each .npy file of a space file holds."""
    results = RESULTS[name](given(name))
    return {HERE / f"{name}.{buffer}.npy": one.reshape(-1).astype(np.float32) for buffer, one in results.items()}


if __name__ == "__main__":
    for example in RESULTS:
        for path, values in files(example).items():
            np.save(path, values)
