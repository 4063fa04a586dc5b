"""Tensor copies as an H200 did them (measured on 2026-11-29): maps that its driver encodes, and what copies leave.

A line of tests/data/h200_tensor_copies.jsonl.xz is a copy by a random map: the map as the driver encodes it, and the
CRC-32 of what it leaves: of a load 9,216 bytes of shared memory from 0x800 on, which were 0xCD; of a store the bytes of
global memory that change, as words of offset and byte. Global memory held 4 MiB of a Mersenne Twister's lowest bytes.
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

SEED, BYTES, SHARED_BYTES = 7, 4 << 20, 9216
FILE = Path(__file__).parents[2] / "data" / "h200_tensor_copies.jsonl.xz"
ROWS = [json.loads(line) for line in lzma.decompress(FILE.read_bytes()).decode().splitlines()]


@cache
def memory():
    """Return global memory before each copy."""
    return np.random.RandomState(SEED)._bit_generator.random_raw(BYTES).astype(np.uint8)


def of_kind(kind):
    """Return the rows of a kind."""
    return [row for row in ROWS if row["kind"] == kind]


def test_maps_are_encoded_as_the_driver_does():
    """All 128 bytes are the driver's, for sizes, strides, boxes, types, swizzles, fills and promotions at random."""
    for row in of_kind("load") + of_kind("store"):
        made = told(row)
        given = bytes.fromhex(row["map"])
        assert made.encode(int.from_bytes(given[:8], "little")) == given, row
        assert made.box_bytes == row["bytes"]


def named(row):
    """Return what a case is called: its tensor and box, type and swizzle."""
    sizes = "x".join(map(str, row["dim"]))
    return f"{sizes} box {row.get('box', row.get('pixels'))} type {row.get('type', 6)} swizzle {row['swz']}"


@pytest.mark.parametrize("row", few(of_kind("load"), 12), ids=named)
def test_loads_leave_what_the_chip_has(row):
    """Shared memory is the chip's: fills, rounded types, rows of a swizzle, and the rest as before."""
    out = np.zeros(SHARED_BYTES, np.uint8)
    coordinates = (*row["c"], 0, 0, 0, 0)[:5]
    arguments = (out, row["bytes"], row["off"], SHARED_BYTES, *coordinates)
    launched = kernel(f"load{len(row['dim'])}", (DriverMap(row["map"]), memory()[row["base"] :].copy()), *arguments)
    assert zlib.crc32(left(launched, walk(launched).memory)[1].tobytes()) == row["seen"]


@pytest.mark.parametrize("row", few(of_kind("im2col"), 8), ids=named)
def test_pixels_are_those_of_the_chip(row):
    """So it is with pixels of images (im2col): corners, steps, offsets, and pixels of the next row and image."""
    out, nbytes = np.zeros(SHARED_BYTES, np.uint8), 2 * row["channels"] * row["pixels"]
    arguments = (out, nbytes, *row["c"], *row["offset"])
    launched = kernel("im2col", (DriverMap(row["map"]), memory().copy()), *arguments)
    found = left(launched, walk(launched).memory)[1]
    assert zlib.crc32(found.tobytes()) == row["seen"]


@pytest.mark.parametrize("row", few(of_kind("store"), 8), ids=named)
def test_stores_change_what_the_chip_changes(row):
    """The bytes of global memory that change are the chip's, those behind a row of the tensor included."""
    source = np.zeros(SHARED_BYTES, np.uint8)
    given = np.frombuffer(bytes.fromhex(row["source"]), np.uint8)
    source[row["off"] : row["off"] + given.size] = given
    before = memory()[row["base"] :].copy()
    coordinates = (*row["c"], 0, 0, 0, 0)[:5]
    arguments = (source, row["bytes"], row["off"], SHARED_BYTES, *coordinates)
    launched = kernel(f"store{len(row['dim'])}", (DriverMap(row["map"]), before), *arguments)
    after = left(launched, walk(launched).memory)[0]
    at = np.flatnonzero(before != after)
    changed = ((at + row["base"]) << 8 | after[at]).astype(np.uint32)
    assert (changed.size, zlib.crc32(changed.tobytes())) == (row["changed"], row["seen"])
