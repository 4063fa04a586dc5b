"""The rows of gpusim/published/h200_blocks.csv, and their launches on `h200`."""

from __future__ import annotations

import csv
import lzma
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gpusim

FILE = Path(gpusim.__file__).parent / "published" / "h200_blocks.csv"
CODE = Path(__file__).parent / "measured" / "blocks.cubin.xz"
SHARED, SMS = 227 * 1024, 132
PARAMETERS = bytes(2048)
STAMPS, WORDS = 6, 14  # of a warp's record: clocks, then two words


class Row(NamedTuple):
    """A launch, and when its blocks began and ended, or its stamps."""

    experiment: str
    warps: int
    resident: int
    blocks: int
    rounds: int
    begins: tuple[float, ...]
    ends: tuple[float, ...]


@cache
def rows() -> tuple[Row, ...]:
    """Return the rows whose launch one SM can stand for."""
    with FILE.open(encoding="utf-8") as file:
        found = csv.reader(line for line in file if not line.startswith("#"))
        next(found)
        every = (
            Row(name, *map(int, numbers), _numbers(begins), _numbers(ends)) for name, *numbers, begins, ends in found
        )
        return tuple(row for row in every if row.experiment != "refill" or row.blocks == SMS)


def _numbers(cell: str) -> tuple[float, ...]:
    return tuple(map(float, cell.split()))


def code() -> bytes:
    """Return the cubin."""
    return lzma.decompress(CODE.read_bytes())


def simulated(module: gpusim.RawModule, row: Row, machine: str = "h200") -> tuple[list[int], list[int]]:
    """Return the cycles of begins and ends of the simulated SM, as the row has them."""
    blocks = SMS * row.resident + SMS * 64 if row.experiment == "refill" else row.blocks
    records = blocks if row.experiment == "refill" else blocks * row.warps
    rec = np.zeros((records, WORDS), np.uint32)
    if row.experiment == "params":
        arguments: tuple[object, ...] = (rec, PARAMETERS)
    else:
        arguments = (rec, np.uint32(SMS), np.int32(0)) if row.experiment == "refill" else (rec, np.int32(row.rounds))
    function = module.get_function(row.experiment)
    shared = SHARED // row.resident - 1024
    function((blocks,), (32 * row.warps,), arguments, machine=machine, shared_mem=shared, complete=False)
    of_sm = rec.reshape(blocks, -1, WORDS)[::SMS]
    clocks = np.ascontiguousarray(of_sm[..., : 2 * STAMPS]).view(np.int64)
    placed = clocks[:, :, 0].any(axis=1) if row.experiment != "refill" else clocks[:, 0, 0] > 0
    return _summed(clocks[placed], row)


def _summed(clocks: np.ndarray, row: Row) -> tuple[list[int], list[int]]:
    start = clocks[..., 0].min()
    if row.experiment == "params":
        return [int(one) for one in clocks.max(axis=(0, 1)) - start], []
    entries = clocks[..., 0].min(axis=1) - start
    order = np.argsort(entries, kind="stable")[: len(row.begins)]
    ends = (clocks[..., 1].max(axis=1) - start)[order] if row.ends else []
    return [int(one) for one in entries[order]], [int(one) for one in ends]
