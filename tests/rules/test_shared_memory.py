"""Shared memory: passes of an access, found by counting distinct words per bank."""

import pytest
from timing import run_text

PATTERN = """
.shared 49152
    S2R R0, LANEID
    {prepare}
    {guard}LDS{suffix} R4, [R0]
    EXIT
"""


def passes(width, *prepare, guard="") -> int:
    """Passes of one load whose address is made of the lane by `prepare`."""
    suffix = "" if width == 32 else f".{width}"
    text = PATTERN.format(prepare="\n    ".join(prepare), suffix=suffix, guard=guard)
    run = run_text(text, {"shared_memory.pass_cycles": 1, "shared_memory.merge_halves": 1})
    return int(run.load_store_cycles[1 + len(prepare)])


@pytest.mark.parametrize(
    ("stride", "ways"), [(0, 1), (1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (32, 32), (33, 1)]
)
def test_32_bits_conflict_by_stride(stride, ways):
    """Lanes a stride of s words apart meet gcd(s, 32) in a bank; stride 0 is a broadcast (PG 4.2 F.4.3)."""
    assert passes(32, f"IMUL R0, R0, {4 * stride}") == ways


@pytest.mark.parametrize(("stride", "ways"), [(0, 2), (1, 2), (2, 4), (3, 2), (16, 32)])
def test_64_bits_are_served_by_half_warps(stride, ways):
    """Each half-warp takes a pass of its own, more if pairs of words a stride apart meet in a bank."""
    assert passes(64, f"IMUL R0, R0, {8 * stride}") == ways


def test_128_bits_at_distinct_addresses_take_eight_passes():
    """32 distinct addresses: 8 passes, the 16 cycles of RR-7923."""
    assert passes(128, "SHL R0, R0, 4") == 8


@pytest.mark.parametrize(("mask", "expected"), [(0, 2), (1, 2), (15, 4), (31, 8)])
def test_128_bits_with_equal_half_warps_are_merged(mask, expected):
    """Where the machine merges half-warps with equal addresses, they cost half: lanes modulo 16 or fewer are equal."""
    assert passes(128, f"LOP.AND R0, R0, {mask}", "SHL R0, R0, 4") == expected


def test_the_same_word_in_one_bank_is_broadcast():
    """All lanes of each pair of neighbours read one word: no conflict."""
    assert passes(32, "SHR R0, R0, 1", "SHL R0, R0, 2") == 1


def test_lanes_switched_off_do_not_conflict():
    """Of 32 lanes in one bank, the 4 that are active take 4 passes."""
    assert passes(32, "ISETP.LT P0, R0, 4", "SHL R0, R0, 7", guard="@P0 ") == 4
