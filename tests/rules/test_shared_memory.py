"""Shared memory: passes of an access, found by counting distinct words per bank."""

import pytest
from timing import run_text

STORE = """
.shared 49152
    S2R R0, LANEID
    {prepare}
    {guard}STS{suffix} [R0], R4
    EXIT
"""
PATTERN = """
.shared 49152
    S2R R0, LANEID
    {prepare}
    {guard}LDS{suffix} R4, [R0]
    EXIT
"""


def passes(width, *prepare, guard="", text=PATTERN, **changes) -> int:
    """Passes of one access whose address is made of the lane by `prepare`, with changes in the machine's section."""
    suffix = "" if width == 32 else f".{width}"
    text = text.format(prepare="\n    ".join(prepare), suffix=suffix, guard=guard)
    section = {"pass_cycles": 1, "merge_halves": 1, **changes}
    run = run_text(text, {f"shared_memory.{key}": value for key, value in section.items()})
    return int(run.load_store_cycles[1 + len(prepare)])


def strided(width, stride, text=PATTERN, **changes) -> int:
    """Passes where lane l accesses element l times `stride` of its width."""
    return passes(width, f"IMUL R0, R0, {width // 8 * stride}", text=text, **changes)


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


@pytest.mark.parametrize(
    ("width", "stride", "ways"),
    [(32, 0, 2), (32, 1, 2), (32, 2, 4), (32, 16, 32), (32, 17, 2), (64, 1, 8), (128, 1, 32), (64, 0, 4)],
)
def test_gt200_serves_half_warps_word_by_word(width, stride, ways):
    """By hand: 16 banks; a double at unit stride is two words per lane, 2-way conflicting, for each of two halves."""
    assert strided(width, stride, rule="gt200", banks=16) == ways


def test_gt200_broadcasts_one_word_a_pass():
    """Lanes 0 to 3 at word 0, 4 to 7 at word 1, ...: a pass serves one word's lanes and a lane of each other bank.

    Of the four words of a half-warp, the first pass serves four lanes of word 0 and one each of the three others, whose
    three remaining lanes then take a pass for each word: four passes, for each of two halves.
    """
    assert passes(32, "SHR R0, R0, 2", "SHL R0, R0, 2", rule="gt200", banks=16) == 8


@pytest.mark.parametrize(
    ("width", "stride", "mode32", "mode64"),
    [
        (32, 1, 1, 1),
        (32, 2, 1, 1),
        (32, 4, 2, 2),
        (32, 32, 16, 16),
        (32, 33, 1, 1),
        (32, 66, 2, 1),
        (64, 1, 1, 1),
        (64, 2, 2, 2),
        (128, 1, 2, 2),
    ],
)
def test_kepler_banks_deliver_eight_bytes(width, stride, mode32, mode64):
    """PG 4.2 F.5.3: in both modes a stride of two words is free of conflicts; 128 bits go by half-warps."""
    assert strided(width, stride, rule="kepler", bank_bytes=4) == mode32
    assert strided(width, stride, rule="kepler", bank_bytes=8) == mode64


VOLTA_LOADS = {  # lane -> element: wavefronts of 32, 64 and 128 bits, as measured on an H200
    "SHL R1, R0, 0": (1, 2, 4),
    "IMUL R1, R0, 0": (1, 1, 2),
    "SHR R1, R0, 1": (1, 1, 2),
    "SHR R1, R0, 2": (1, 1, 2),
    "LOP.AND R1, R0, 1": (1, 1, 2),
    "LOP.AND R1, R0, 15": (1, 2, 4),
    "LOP.XOR R1, R0, 16": (1, 2, 4),
    "IMUL R1, R0, 2": (2, 4, 8),
    "IMUL R1, R0, 3": (1, 2, 4),
    "IMUL R1, R0, 4": (4, 8, 16),
    "IMUL R1, R0, 8": (8, 16, 32),
}


@pytest.mark.parametrize(("element", "wavefronts"), VOLTA_LOADS.items())
def test_volta_loads_go_together_where_neighbours_agree(element, wavefronts):
    """Half-warps of 64 bits and quarter-warps of 128 bits merge where lanes agree with a neighbour: as measured."""
    found = tuple(passes(width, element, f"IMUL R0, R1, {width // 8}", rule="volta") for width in (32, 64, 128))
    assert found == wavefronts


@pytest.mark.parametrize(("stride", "wavefronts"), [(0, (1, 2, 4)), (1, (1, 2, 4)), (2, (2, 4, 8)), (4, (4, 8, 16))])
def test_volta_stores_do_not_merge(stride, wavefronts):
    """Stores of 64 and 128 bits take two and four passes even to one address: measured on an H200."""
    assert tuple(strided(width, stride, STORE, rule="volta") for width in (32, 64, 128)) == wavefronts


@pytest.mark.parametrize(
    ("width", "stride", "passes"), [("", 1, 2), ("", 0, 2), ("", 32, 64), (".64", 2, 4), (".128", 4, 8)]
)
def test_a_wave_takes_two_passes_at_best_and_64_at_worst(width, stride, passes):
    """GCN3 ISA manual, chapter 10: 2 to 64 cycles by bank conflicts; 128 bytes move in a cycle (Omniperf)."""
    text = f".warp 64\n.shared 16384\nS2R R0, LANEID\nIMUL R0, R0, {4 * stride}\nLDS{width} R4, [R0]\nEXIT"
    changes = {"limits.warp_size": 64, "shared_memory.rule": "gcn", "shared_memory.pass_cycles": 1}
    assert run_text(text, changes).load_store_cycles[2] == passes
