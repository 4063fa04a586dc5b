"""The table of what an H200 computed, and the code that it ran: read from the folder `data`."""

import io
import lzma
from functools import cache
from pathlib import Path

import numpy as np

from hardware.inputs import SETS
from hardware.snippet import HALF, PAIR, TRUTH, Snippet

DATA = Path(__file__).parent / "data"
CUBIN, TABLE = "snippets.cubin.xz", "bits.npz.xz"
KEPT = {TRUTH: "u1", HALF: "u2", PAIR: "u8"}  # types of results in the table; others have 32 bits
MOST_THREADS = 1024  # of a block


def launch(one: Snippet) -> tuple[int, int]:
    """Return the blocks of a snippet's grid and the lanes of a block."""
    rows = SETS[one.inputs].rows
    return (rows, 1) if one.uniform else (-(-rows // MOST_THREADS), min(rows, MOST_THREADS))


@cache
def table() -> dict[str, np.ndarray]:
    """Return all columns by name."""
    with np.load(io.BytesIO(lzma.decompress((DATA / TABLE).read_bytes()))) as found:
        return dict(found)


def inputs(name: str) -> tuple[np.ndarray, ...]:
    """Return the columns of a set of inputs."""
    return tuple(table()[f"in.{name}.{letter}"] for letter in "abc")


def results(one: Snippet) -> list[np.ndarray]:
    """Return the columns that the chip computed."""
    return [table()[f"out.{one.name}.{number}"] for number in range(len(one.results))]


def about() -> list[str]:
    """Return the GPU, its driver, its version of CUDA and the day."""
    return [str(one) for one in table()["about"]]


def cubin() -> bytes:
    """Return the cubin of all snippets."""
    return lzma.decompress((DATA / CUBIN).read_bytes())
