"""Shared memory: passes of an access, found by counting distinct words per bank."""

from types import SimpleNamespace

import numpy as np
import pytest
from draws import draws
from executed import ENDLESS
from executed import passes as by_definition
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from timing import issue_times, run_text

from gpusim.machine.machine import load
from gpusim.sm.memory.shared_memory import shared_memory
from gpusim.sm.memory.shared_memory.declaration import SHARED_RULES
from gpusim.sm.memory.what_if import CONFLICT_FREE

BANKS = 128

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
    """Passes of one access whose address `prepare` computes from the lane, with changes in the machine's section."""
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
    """At a stride of s words, gcd(s, 32) lanes share a bank; stride 0 is a broadcast (PG 4.2 F.4.3)."""
    assert passes(32, f"IMUL R0, R0, {4 * stride}") == ways


@pytest.mark.parametrize(("stride", "ways"), [(0, 2), (1, 2), (2, 4), (3, 2), (16, 32)])
def test_64_bits_are_served_by_half_warps(stride, ways):
    """Each half-warp takes a pass of its own, and more if pairs of words a stride apart share a bank."""
    assert passes(64, f"IMUL R0, R0, {8 * stride}") == ways


def test_128_bits_at_distinct_addresses_take_eight_passes():
    """128 bits at 32 distinct addresses take 8 passes, the 16 cycles of RR-7923."""
    assert passes(128, "SHL R0, R0, 4") == 8


@pytest.mark.parametrize(("mask", "expected"), [(0, 2), (1, 2), (15, 4), (31, 8)])
def test_128_bits_with_equal_half_warps_are_merged(mask, expected):
    """On a machine that merges half-warps with equal addresses (lane modulo 16 or fewer), they take half the passes."""
    assert passes(128, f"LOP.AND R0, R0, {mask}", "SHL R0, R0, 4") == expected


def test_the_same_word_in_one_bank_is_broadcast():
    """Pairs of neighbouring lanes read one word each, in one pass."""
    assert passes(32, "SHR R0, R0, 1", "SHL R0, R0, 2") == 1


def test_lanes_switched_off_do_not_conflict():
    """Of 32 lanes in one bank, the 4 that are active take 4 passes."""
    assert passes(32, "ISETP.LT P0, R0, 4", "SHL R0, R0, 7", guard="@P0 ") == 4


@pytest.mark.parametrize(
    ("width", "stride", "ways"),
    [(32, 0, 2), (32, 1, 2), (32, 2, 4), (32, 16, 32), (32, 17, 2), (64, 1, 8), (128, 1, 32), (64, 0, 4)],
)
def test_gt200_serves_half_warps_word_by_word(width, stride, ways):
    """By hand, of 16 banks: doubles at unit stride are two words per lane, of two passes each, for both halves."""
    assert strided(width, stride, rule="gt200", banks=16) == ways


def test_gt200_broadcasts_one_word_a_pass():
    """Lanes 0 to 3 read word 0, 4 to 7 word 1, ...: a pass serves the lanes of one word and a lane of each other bank.

    The first pass of a half-warp serves the four lanes of word 0 and one lane of each of the other three words. Their
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
    """Half-warps of 64 bits and quarter-warps of 128 bits merge if lanes agree with a neighbour, as measured."""
    found = tuple(passes(width, element, f"IMUL R0, R1, {width // 8}", rule="volta") for width in (32, 64, 128))
    assert found == wavefronts


@pytest.mark.parametrize(("stride", "wavefronts"), [(0, (1, 2, 4)), (1, (1, 2, 4)), (2, (2, 4, 8)), (4, (4, 8, 16))])
def test_volta_stores_do_not_merge(stride, wavefronts):
    """Stores of 64 and 128 bits take two and four passes even to one address, as measured on an H200."""
    assert tuple(strided(width, stride, STORE, rule="volta") for width in (32, 64, 128)) == wavefronts


@pytest.mark.parametrize(
    ("width", "stride", "passes"), [("", 1, 2), ("", 0, 2), ("", 32, 64), (".64", 2, 4), (".128", 4, 8)]
)
def test_a_wave_takes_two_passes_at_best_and_64_at_worst(width, stride, passes):
    """A wave takes 2 to 64 passes by bank conflicts (GCN3 ISA manual, chapter 10), of 128 bytes each (Omniperf)."""
    text = f".warp 64\n.shared 16384\nS2R R0, LANEID\nIMUL R0, R0, {4 * stride}\nLDS{width} R4, [R0]\nEXIT"
    changes = {"limits.warp_size": 64, "shared_memory.rule": "gcn", "shared_memory.pass_cycles": 1}
    assert run_text(text, changes).load_store_cycles[2] == passes


WIDER = {  # passes of 32, 64 and 128 bits in consecutive lanes, by banks
    "gt200": {16: (2, 8, 32), 32: (1, 2, 8), 64: (1, 1, 2), 128: (1, 1, 1)},
    "fermi": {16: (2, 4, 16), 32: (1, 2, 8), 64: (1, 1, 2), 128: (1, 1, 1)},
    "kepler": {16: (1, 2, 4), 32: (1, 1, 2), 64: (1, 1, 1), 128: (1, 1, 1)},
    "volta": {16: (2, 4, 8), 32: (1, 2, 4), 64: (1, 1, 2), 128: (1, 1, 1)},
    "gcn": {16: (2, 4, 8), 32: (1, 2, 4), 64: (1, 1, 2), 128: (1, 1, 1)},
}


@pytest.mark.parametrize(("rule", "banks"), [(rule, banks) for rule, by_banks in WIDER.items() for banks in by_banks])
def test_more_banks_serve_more_lanes_or_more_words_of_each(rule, banks):
    """By hand: a pass has a word for each bank (Kepler: two); Fermi's parts of 128 bits conflict on 32 banks."""
    bits = (32, 64, 128)
    found = tuple(strided(width, 1, rule=rule, banks=banks, bank_bytes=4) for width in bits)
    assert found == WIDER[rule][banks]


@pytest.mark.parametrize(("rule", "stride", "ways"), [("fermi", 64, 32), ("volta", 32, 16), ("kepler", 64, 16)])
def test_64_banks_conflict_by_their_own_number(rule, stride, ways):
    """Words 64 apart share one of 64 banks, words 32 apart share two; Kepler's banks deliver two words at once."""
    assert strided(32, stride, rule=rule, banks=64, bank_bytes=4) == ways


@pytest.mark.jit
@settings(max_examples=draws(500))
@given(st.data())
def test_passes_are_those_of_the_definitions(data):
    """For all rules, banks, widths and lanes, the passes are those of a second account that counts words by sets."""
    rule, words = data.draw(st.sampled_from(SHARED_RULES)), data.draw(st.sampled_from((1, 2, 4)))
    changes = {
        "rule": rule,
        "banks": data.draw(st.sampled_from((8, 16, 32, 64, 128))),
        "bank_bytes": data.draw(st.sampled_from((4, 8))),
        "merge_halves": data.draw(st.booleans()),
    }
    shared = structs.replace(load("gtx580").shared_memory, **changes)
    free, loads = data.draw(st.booleans()), data.draw(st.booleans())
    active = data.draw(st.just(2**32 - 1) | st.integers(1, 2**32 - 1))
    stride, mask, shift = (data.draw(st.integers(0, most)) for most in (40, 31, 2))
    regular = [(lane >> shift & mask) * stride for lane in range(32)]
    elements = data.draw(st.just(regular) | st.lists(st.integers(0, 200), min_size=32, max_size=32))
    addresses = [4 * words * element for element in elements]
    sm = SimpleNamespace(
        machine=SimpleNamespace(
            shared_rule=SHARED_RULES.index(rule),
            shared_ideal=CONFLICT_FREE if free else 0,
            banks=shared.banks,
            bank_words=shared.bank_bytes // 4,
            merge_halves=shared.merge_halves,
        ),
        scratch=SimpleNamespace(
            seen=np.zeros((BANKS, 32), np.int64), depth=[0] * BANKS, line=[0] * 128, address=addresses
        ),
    )
    where = [address if active >> lane & 1 else None for lane, address in enumerate(addresses)]
    expected = by_definition(where, words, shared, ENDLESS if free else shared.banks, load=loads)
    assert shared_memory.passes(sm, active, words, loads) == max(1, expected)


@pytest.mark.parametrize(
    ("several", "stride", "width", "cycles"),
    [(1, 1, 128, 8), (2, 1, 128, 4), (3, 1, 128, 3), (9, 1, 128, 1), (2, 1, 32, 1), (2, 3, 64, 1), (2, 32, 32, 16)],
)
def test_several_passes_of_an_access_share_a_cycle(several, stride, width, cycles):
    """An access takes its passes / `several` cycles of the unit, rounded up: an LDS.128's 8 passes by threes take 3."""
    assert strided(width, stride, merge_halves=0, passes_per_cycle=several) == cycles


@pytest.mark.parametrize(
    ("least", "stride", "width", "cycles"), [(1, 1, 32, 1), (2, 1, 32, 2), (2, 2, 32, 2), (2, 3, 32, 2), (2, 4, 32, 4)]
)
def test_an_access_takes_the_unit_for_its_least_cycles(least, stride, width, cycles):
    """An LDS of one pass takes the unit as long as one of two where two are the least; one of four takes four."""
    text = PATTERN.format(prepare=f"IMUL R0, R0, {width // 8 * stride}", suffix="", guard="")
    one_cycle = {"shared_memory.pass_cycles": 1, "load_store.least_cycles": least}
    assert int(run_text(text, one_cycle).load_store_cycles[2]) == cycles


@pytest.mark.parametrize(("several", "later"), [(1, 15), (2, 8), (4, 4)])
def test_further_passes_add_their_part_of_a_cycle_to_the_latency(several, later):
    """The reader of a load of sixteen passes, one of them free, issues 15 / `several` cycles later, rounded up."""
    text = ".shared 49152\nS2R R0, LANEID\nIMUL R1, R0, {}\nLDS R4, [R1]\nMOV R5, R4\nEXIT"
    changes = {"shared_memory.pass_cycles": 1, "shared_memory.passes_per_cycle": several, "schedulers.interval": 1}
    begin, end = (issue_times(text.format(4 * stride), changes)[-1] for stride in (1, 16))
    assert end - begin == later
