"""The rows of gpusim/published/h200_ends.csv, and their launches on `h200`: stores, atomics, exits, waiting blocks."""

from __future__ import annotations

import csv
import lzma
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gpusim

FILE = Path(gpusim.__file__).parent / "published" / "h200_ends.csv"
CODE = Path(__file__).parent / "measured" / "ends.cubin.xz"
WAITING = ("barriers", "scan")  # blocks that wait for each other
STORING = ("col", "far")  # 32 stores of a warp, each to 32 sectors: eight in turn to the same, or none
ALONE = ("nothing", "spin")  # without memory: blocks that only end, or first read the clock for `rounds` cycles
APART = 512  # bytes between the words of two blocks
NONE = np.uint32(0)


class Row(NamedTuple):
    """A launch: cycles for which an SM was active at most, and of the whole."""

    experiment: str
    blocks: int
    threads: int
    rounds: int
    active: int
    elapsed: int


@cache
def rows() -> tuple[Row, ...]:
    """Return all rows."""
    with FILE.open(encoding="utf-8") as file:
        found = csv.reader(line for line in file if not line.startswith("#"))
        next(found)
        return tuple(Row(name, *map(int, numbers)) for name, *numbers in found)


def code() -> bytes:
    """Return the cubin."""
    return lzma.decompress(CODE.read_bytes())


def cycles(row: Row) -> int:
    """Return the cycles from the first block's beginning until all is done.

    An SM whose blocks have left is no longer active while the L2 still does their atomics. So of a launch of `red` the
    whole counts, less what launches of stores with as many blocks and threads take before and behind their work.
    """
    if "red" not in row.experiment:
        return row.active
    (store,) = (one for one in rows() if one[:3] == ("own_store", row.blocks, row.threads))
    return max(row.active, row.elapsed - (store.elapsed - store.active))


def simulated(module: gpusim.RawModule, row: Row) -> int:
    """Return the cycles of one SM that stands for all, with a warm L2."""
    function = module.get_function(row.experiment)
    if row.experiment in ALONE:
        arguments = (np.zeros(1, np.int64), np.int32(row.rounds)) if row.rounds else ()
        return int(function((row.blocks,), (row.threads,), arguments, machine="h200", complete=False).cycles)
    words = row.blocks * max(row.threads, APART // 4) if row.experiment.startswith(("own", "block")) else 128
    shared = 4096 if row.experiment == "own_shared" else 0
    arguments = (np.zeros(words, np.uint32), NONE)
    call = {"machine": "h200", "shared_mem": shared, "complete": False}
    return int(function((row.blocks,), (row.threads,), arguments, **call).cycles)


def stored(module: gpusim.RawModule, experiment: str) -> tuple[int, int]:
    """Return the cycles of 32 stores of a warp to 32 sectors each, and the sectors that went to the L2."""
    run = module.get_function(experiment)((1,), (32,), (np.zeros(32 * APART, np.float32),), machine="h200").run
    return int(run.cycles), int(run.sectors["stored"])


def counted(module: gpusim.RawModule, blocks: int) -> int:
    """Return how many blocks the word of a barrier of the grid has counted."""
    record, words = np.zeros(4 * blocks, np.uint32), np.zeros(32 + 32 * blocks, np.uint32)
    module.get_function("barriers")((blocks,), (32,), (record, words, np.int32(1), NONE), machine="h200")
    return int(words[0])


def scanned(module: gpusim.RawModule, blocks: int) -> bool:
    """Tell whether a scan with look-back gives the sums."""
    given = np.random.default_rng(0).integers(0, 9, 256 * blocks, dtype=np.uint32)
    sums = np.zeros_like(given)
    arguments = (sums, given, *(np.zeros(blocks, np.uint32) for _ in range(3)))
    module.get_function("scan")((blocks,), (256,), arguments, machine="h200")
    return bool((sums == np.cumsum(given)).all())
