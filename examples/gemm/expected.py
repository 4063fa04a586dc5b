"""What NumPy gives for the four products, exact in double precision: `python examples/gemm/expected.py` writes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpusim.launch.file import arguments, source

HERE = Path(__file__).parent
DEPTH = 512


def product() -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Return A B^T of the launch files' inputs, row by row; every sum fits in a single."""
    launch = source.read(HERE / "plain.toml")
    filled = {one.name: one.fill(np.arange(one.elements)) for one in arguments.buffers(launch) if one.fill}
    a, b = (filled[name].astype(np.float64).reshape(-1, DEPTH) for name in "ab")
    return (a @ b.T).astype(np.float32).reshape(-1)


if __name__ == "__main__":
    np.save(HERE / "c.npy", product())
