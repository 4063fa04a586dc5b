"""Pixels of images and interleaved tensors as an H200 copied them (measured on 2026-11-29), and what it refused.

A line of tests/data/h200_pixels.jsonl.xz is a copy by a random map, given as the driver encodes it, with the CRC-32 of
what it leaves: of a load 4,096 bytes of shared memory from 0x800 on, which were 0xCD; of a store or a reduction the
bytes of global memory that change, as words of offset and byte. `trap`: an illegal instruction on the chip.
"""

import json
import lzma
import zlib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from bulk_programs import DriverMap, kernel, left, told
from draws import few

from gpusim.engines.walks.program_order import walk
from isa.errors import ExecutionError

SEED, BYTES, SHARED_BYTES = 7, 1 << 20, 4096
OPERATIONS = "", "add", "min", "max"
FILE = Path(__file__).parents[2] / "data" / "h200_pixels.jsonl.xz"
ROWS = [json.loads(line) for line in lzma.decompress(FILE.read_bytes()).decode().splitlines()]


@cache
def memory():
    """Return global memory before each copy: its halves are numbers near one another."""
    found = np.random.RandomState(SEED)._bit_generator.random_raw(BYTES).astype(np.uint8)
    found[1::2] = (found[1::2] & 0x83) | 0x38
    return found


def named(row):
    """Return what a case is called."""
    what = "pixels" if row["pixels"] else "box"
    return f"{row['kind']} {what} {'x'.join(map(str, row['dim']))} interleave {row['interleave']} type {row['type']}"


def of_kind(*kinds):
    """Return the rows of some kinds."""
    return [row for row in ROWS if row["kind"] in kinds]


def loaded(row):
    """Return the launch of a load, and what it leaves in its array."""
    rank, out, coordinates = len(row["c"]), np.zeros(SHARED_BYTES, np.uint8), (*row["c"], 0, 0)[:5]
    given = (
        (DriverMap(row["map"]), memory()[row["base"] :].copy()),
        out,
        row.get("bytes", 64),
        row["off"],
        SHARED_BYTES,
    )
    if row["pixels"]:
        return kernel(f"pixels{rank}", *given, *coordinates, *row["away"], file="pixels")
    return kernel(f"load{rank}", *given, *coordinates)


def stored(row):
    """Return the launch of a store or a reduction."""
    source, coordinates = np.zeros(SHARED_BYTES, np.uint8), (*row["c"], 0, 0)[:5]
    given = np.frombuffer(bytes.fromhex(row.get("source", "")), np.uint8)
    source[row["off"] : row["off"] + given.size] = given
    before, name = memory()[row["base"] :].copy(), "image" if row["pixels"] else "tile"
    name = f"{name}{len(row['c'])}{OPERATIONS[row['op']]}"
    return kernel(name, (DriverMap(row["map"]), before), source, row["off"], SHARED_BYTES, *coordinates, file="pixels")


@pytest.mark.parametrize("row", few(of_kind("load"), 16), ids=named)
def test_loads_leave_what_the_chip_has(row):
    """Pixels of lines, areas and volumes, with steps and offsets, and slices of channels, along a box and beyond."""
    launched = loaded(row)
    assert zlib.crc32(left(launched, walk(launched).memory)[1].tobytes()) == row["seen"]


@pytest.mark.parametrize("row", few(of_kind("store"), 8), ids=named)
def test_stores_change_what_the_chip_changes(row):
    """So do stores of them, and sums, least and greatest of halves and bfloat16s."""
    launched = stored(row)
    after, before = left(launched, walk(launched).memory)[0], memory()[row["base"] :]
    at = np.flatnonzero(before != after)
    changed = ((at + row["base"]) << 8 | after[at]).astype(np.uint32)
    assert (changed.size, zlib.crc32(changed.tobytes())) == (row["changed"], row["seen"])


@pytest.mark.parametrize("row", few(of_kind("trap"), 8), ids=named)
def test_what_the_chip_refuses_is_refused(row):
    """Pixels do not begin behind their box, and a store's box is inside the tensor: clear lines say so."""
    launched = stored(row) if row["store"] else loaded(row)
    with pytest.raises(ExecutionError, match=r"behind the upper corner|corners of pixels outside the tensor"):
        walk(launched)


def test_interleaved_maps_are_encoded_as_the_driver_does():
    """All 128 bytes are the driver's, and a box has as many bytes as the chip copies: one slice of channels."""
    for row in ROWS:
        if row["interleave"] and not row["pixels"]:
            made = told(row)
            given = bytes.fromhex(row["map"])
            assert made.encode(int.from_bytes(given[:8], "little")) == given, row
            assert row["kind"] != "load" or made.box_bytes == row["bytes"]
