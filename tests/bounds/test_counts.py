"""Sectors and bank conflicts of compiled kernels (data/counts.cu), each worked out by hand from its addresses."""

from pathlib import Path

import numpy as np
import pytest

import gpusim
from gpusim.bounds.bounds import bound, works
from gpusim.bounds.sectors import sectors

MODULE = gpusim.RawModule(path=Path(__file__).with_name("data") / "counts_90.cubin")
WORDS = np.zeros(64 * 32 * 64, np.float32)


def launched(name, threads, *arguments):
    """Return the launch of a kernel by one block on an H200."""
    return MODULE.get_function(name)((1,), (threads,), arguments, machine="h200").kernel


def moved(*launch):
    """Return all sectors that a launch loads and stores."""
    kernel = launched(*launch)
    found, _ = works(kernel, gpusim.load("h200"))
    return sum(each.sectors for each in sectors(found, (0,)).values())


def ways(*launch):
    """Return the passes of each access with bank conflicts, for each that its width needs."""
    return [round(factor, 9) for factor in bound(launched(*launch), gpusim.load("h200")).conflicts.values()]


@pytest.mark.jit
@pytest.mark.parametrize(("stride", "expected"), [(1, 8), (2, 16), (4, 32), (8, 64), (16, 64), (32, 64)])
def test_sectors_grow_with_the_stride_up_to_one_for_each_lane(stride, expected):
    """32 words a stride apart are loaded and stored: eight neighbours share a sector, a stride of 8 parts them."""
    assert moved("sc", 32, WORDS, WORDS.copy(), np.int32(stride)) == expected


@pytest.mark.jit
@pytest.mark.parametrize(("offset", "expected"), [(0, 8), (1, 10), (4, 10), (8, 8), (31, 10)])
def test_an_offset_within_a_sector_adds_one(offset, expected):
    """32 words in a row touch four sectors, or five where they begin within one; so do those that are stored."""
    assert moved("off", 32, WORDS, WORDS.copy(), np.int32(offset)) == expected


@pytest.mark.jit
def test_members_of_a_structure_and_bytes():
    """Three loads of a member each touch all 12 sectors of 32 structures of 12 bytes; 32 bytes are one sector."""
    assert moved("aos", 32, WORDS, WORDS.copy()) == 3 * 12 + 4
    assert moved("by", 32, np.zeros(1024, np.uint8), np.zeros(1024, np.uint8)) == 1 + 1


@pytest.mark.jit
@pytest.mark.parametrize(("stride", "expected"), [(1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (32, 32), (33, 1)])
def test_words_a_stride_apart_conflict_by_its_common_divisor_with_the_banks(stride, expected):
    """Of eight loads each has as many passes as the greatest common divisor of its stride and 32 banks."""
    assert ways("x32", 32, np.zeros(1024, np.float32), np.int32(stride)) == [expected] * (8 if expected > 1 else 0)


@pytest.mark.jit
@pytest.mark.parametrize(
    ("name", "threads", "dtype", "expected"),
    [("d2", 1024, "f8", []), ("d3", 1024, "f8", [16.0]), ("c8", 1024, "u1", []), ("f3", 256, "f4", [])],
)
def test_columns_of_doubles_bytes_and_structures(name, threads, dtype, expected):
    """A column of doubles takes 32 passes instead of 2, a padded one 2; bytes and structures have no conflict."""
    assert ways(name, threads, np.zeros(threads, dtype)) == expected
