from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from interpreter.interpret import interpret
from strategies.launches import kernels

from gpusim.engines.walks.races import LIMIT, MOST_WARPS, races, unordered
from isa.errors import LimitError, UserError
from isa.kernel import Kernel
from isa.row import Unit
from isa.table import machine_row
from isa.text.assembler import assemble
from isa.text.listing import read

PROLOGUE = ".shared 1024\nS2R R0, TID.X\nSHL R1, R0, 2\nS2R R4, WARPID\n"  # pcs 0 to 2


def found(text, warps=2, blocks=1):
    kernel = Kernel("k", assemble(PROLOGUE + text), (blocks, 1, 1), (32 * warps, 1, 1))
    return races(kernel)


def pairs(text, warps=2):
    return [(race.first.pc, race.second.pc) for race in found(text, warps)]


def test_a_read_of_another_warps_word_without_a_barrier_is_a_race():
    """Both accesses are named with warp, pc, line and kind, and the word with its byte address."""
    (race,) = found("STS [R1], R0\nLOP.XOR R2, R1, 0x80\nLDS R3, [R2]")
    assert (race.block, race.address) in {(0, 0x00), (0, 0x80)}
    assert {(a.pc, a.line, a.writes) for a in (race.first, race.second)} == {(3, 5, True), (5, 7, False)}
    assert {race.first.warp, race.second.warp} == {0, 1}


def test_a_race_reads_as_one_line():
    """The text names the word, both instructions with their lines, and the fix."""
    text = str(found("STS [R1], R0\nLOP.XOR R2, R1, 0x80\nLDS R3, [R2]")[0])
    assert "\n" not in text
    assert "writes it at line 5, pc 3 `STS [R1], R0`" in text
    assert "reads it at line 7, pc 5 `LDS R3, [R2]`" in text
    assert "BAR.SYNC" in text


def test_a_barrier_between_orders_them():
    """The same accesses with a BAR.SYNC between are no race."""
    assert pairs("STS [R1], R0\nBAR.SYNC 0\nLOP.XOR R2, R1, 0x80\nLDS R3, [R2]") == []


def test_blocks_of_more_warps_than_a_release_tells_apart_are_refused():
    """Up to 64 warps a barrier orders all; of larger blocks none is searched, and all accesses may be unordered."""
    text = ".shared 16384\nS2R R0, TID.X\nSHL R1, R0, 2\nSTS [R1], R0\nBAR.SYNC 0\nLOP.XOR R2, R1, 0x80\nLDS R3, [R2]"
    most, more = (Kernel("k", assemble(text), (1, 1, 1), (32 * warps, 1, 1)) for warps in (MOST_WARPS, MOST_WARPS + 2))
    assert races(most) == []
    with pytest.raises(UserError, match=r"k: has blocks of 66 warps; races are found in those of 64 at most"):
        races(more)
    assert unordered(most, [0], {2, 5}, LIMIT) == set()
    assert unordered(more, [0], {2, 5}, LIMIT) == {2, 5}


def test_a_write_after_anothers_read_is_a_race():
    """A barrier before the reads does not order a later store against them."""
    text = "STS [R1], R0\nBAR.SYNC 0\nLOP.XOR R2, R1, 0x80\nLDS R3, [R2]\nSTS [R1], R0"
    assert pairs(text) == [(6, 7)]


def test_two_warps_that_store_the_same_word_race_in_one_instruction():
    """One store of two warps to word 0 races with itself; the store of one warp alone does not."""
    assert pairs("STS [0], R0") == [(3, 3)]
    assert pairs("STS [0], R0", warps=1) == []


def test_reads_never_race():
    """Two loads of one word by both warps are no race."""
    assert pairs("LDS R2, [0]\nLDS R3, [0]") == []


def test_a_load_whose_word_a_compare_and_swap_expects_is_no_race():
    """Of a loop that loads, adds and swaps; the same load without the swap, or a store beside it, is one."""
    loop = "MOV R6, 0\nagain:\nLDS R5, [R6]\nIADD R7, R5, 1\nATOMS.CAS R8, [R6], {}, R7\n"
    loop += "ISETP.NE P0, R8, R5\n@P0 BRA again"
    assert pairs(loop.format("R5")) == []
    assert pairs(loop.format("R9")) == [(4, 6)]
    assert (3, 3) in pairs(f"STS [0], R0\n{loop.format('R5')}")


def test_a_load_whose_word_a_compare_and_swap_expects_races_with_stores_alone():
    """Of warps 0 and 1, which meet behind a store: a load by the other is no race, a plain store is one.

    The swap is executed by no warp, or by that of the load; then it is a race with the other's load.
    """
    head = "MOV R6, 0\nISETP.LT P0, R4, 2\nISETP.EQ P1, R4, 0\nISETP.EQ P2, R4, 1\nISETP.EQ P3, R4, {swap}\n"
    met = "@P1 STS [R6], R0\n@P0 BAR.SYNC 1, 64\n@P1 LDS R5, [R6]\n@P2 {other}\n@P3 ATOMS.CAS R8, [R6], R5, R0"

    def between(other, swap):
        return pairs((head + met).format(other=other, swap=swap), warps=3)

    assert between("LDS R9, [R6]", 9) == between("LDS R5, [R6]", 9) == []
    assert between("STS [R6], R0", 9) == [(10, 11)]
    assert between("LDS R9, [R6]", 0) == [(11, 12)]
    assert between("LDS R5, [R6]", 0) == []


def test_wide_accesses_race_on_any_of_their_words():
    """A 128-bit load of warp 1 races with warp 0's store to the third of its words."""
    text = "ISETP.EQ P0, R4, 0\n@P0 STS [8], R0\n@!P0 LDS.128 R8, [RZ]"
    (race,) = found(text)
    assert race.address == 8


def test_lanes_that_are_off_touch_nothing():
    """Two warps that store to different words under complementary guards do not race."""
    assert pairs("ISETP.EQ P0, R4, 0\n@P0 STS [0], R0\n@!P0 STS [4], R0") == []


def test_a_partial_barrier_orders_only_its_warps():
    """Warps 0 and 1 meet at barrier 1 and do not race; warp 2's load of the same word races with the store."""
    text = "ISETP.LT P0, R4, 2\nISETP.EQ P1, R4, 0\n@P1 STS [0], R0\n@P0 BAR.SYNC 1, 64\n@{} LDS R5, [0]"
    assert pairs(text.format("P0"), warps=3) == []
    assert pairs(text.format("!P0"), warps=3) == [(5, 7)]


def test_order_passes_on_through_a_chain_of_partial_barriers():
    """Warp 0 meets warp 1, then warp 1 meets warp 2: warp 0's store is ordered before warp 2's load."""
    text = """
        ISETP.LT P0, R4, 2
        ISETP.GE P1, R4, 1
        ISETP.EQ P2, R4, 0
        ISETP.EQ P3, R4, 2
        @P2 STS [0], R0
        @P0 BAR.SYNC 1, 64
        @P1 BAR.SYNC 2, 64
        @P3 LDS R5, [0]
    """
    assert pairs(text, warps=3) == []


def test_pairs_of_instructions_are_reported_once():
    """A race that recurs in each round, word and block is one entry."""
    text = "l:\nSTS [R1], R0\nLOP.XOR R2, R1, 0x80\nLDS R3, [R2]\nISETP.LT P0, R5, 3\nIADD R5, R5, 1\n@P0 BRA l"
    assert len(found(text, blocks=2)) == 1


def test_blocks_have_their_own_shared_memory():
    """Single-warp blocks that store to the same address do not race."""
    assert found("STS [0], R0", warps=1, blocks=3) == []


def test_an_endless_block_meets_the_limit():
    """A block of 4 warp instructions is checked under a limit of 4, and raises LimitError under a limit of 3."""
    kernel = Kernel("k", assemble(".shared 4\nSTS [0], R0\nEXIT"), (1, 1, 1), (64, 1, 1))
    assert len(races(kernel, limit=4)) == 1
    with pytest.raises(LimitError, match="more than 3 warp instructions"):
        races(kernel, limit=3)


@given(kernels())
@settings(deadline=None, max_examples=draws(60))
def test_kernels_with_their_barriers_have_no_race(kernel):
    """Exchanges fenced by whole or partial barriers are race-free however loops and skips move the warps."""
    assert races(kernel) == []


def _racy_words(kernel, block):
    """Return the words with a race, by comparing every pair of accesses not ordered by barrier releases."""
    warps = kernel.warps
    before = [set() for _ in range(warps)]
    events, own = [], [[] for _ in range(warps)]

    def observe(pc, group, addresses, active):
        row = kernel.program.instructions[pc].row
        if row.unit is not Unit.SHARED:
            return
        for warp, lanes, on in zip(group.tolist(), addresses.astype(np.int64), active, strict=True):
            touched = {int(a) + k for a in lanes[on] for k in range(row.nbytes)}
            own[warp].append(len(events))
            events.append((warp, touched, row.is_store, frozenset(before[warp])))

    def released(group):
        known = set().union(*(before[w] | set(own[w]) for w in group.tolist()))
        for warp in group.tolist():
            before[warp] = set(known)

    interpret(kernel, [block], observe, released=released)
    racy = set()
    for i, (warp, touched, stores, _) in enumerate(events):
        for other, theirs, other_stores, past in events[i + 1 :]:
            if warp != other and (stores or other_stores) and i not in past:
                racy |= touched & theirs
    return {byte // 4 for byte in racy}


def parts(text, size, warps=2):
    """Return the pairs of pcs that race if the accesses of a text are of bytes, or of halves of words."""
    program = assemble(PROLOGUE + text)
    rows = {name: machine_row(f"{name}.U{8 * size}") for name in ("LDS", "STS")}
    code = tuple(replace(i, row=rows.get(i.row.mnemonic, i.row)) for i in program.instructions)
    kernel = Kernel("k", replace(program, instructions=code), (1, 1, 1), (32 * warps, 1, 1))
    return [(race.first.pc, race.second.pc, race.address) for race in races(kernel)]


@pytest.mark.parametrize("size", [1, 2])
def test_parts_of_one_word_do_not_race(size):
    """Warps that store to different bytes, or halves, of one word are in no race; to the same one they are."""
    shift = f"SHL R2, R4, {size - 1}\n"
    assert parts(f"{shift}STS [R2+4], R0", size) == []
    assert parts(f"{shift}STS [R2+4], R0\nLDS R3, [R2+4]", size) == []
    assert parts("STS [R5+6], R0\nLDS R3, [R5+6]", size)[0][2] == 4


@pytest.mark.long
def test_a_race_is_reported_exactly_where_brute_force_finds_one():
    """On kernels with missing barriers races() finds one if comparing all pairs of accesses does, on such a word."""
    seen = Counter()

    @given(kernels(barriers=False))
    @settings(deadline=None, max_examples=draws(150, 50), derandomize=True)
    def check(kernel):
        reported, racy = races(kernel, [0]), _racy_words(kernel, 0)
        assert bool(reported) == bool(racy)
        assert {race.address // 4 for race in reported} <= racy
        seen[bool(racy)] += 1

    check()
    assert min(seen[True], seen[False]) >= draws(150, 50) // 15, seen


COPYING = """
.grid 1
.block 64
.shared 512
.buffer x u32 4096
    S2R R0, TID.X
    SHL R1, R0, 2
    LOP.XOR R2, R1, 0x80
    IADD R3, R1, c[x]
"""
ISSUED = "LDGSTS [R1], [R3]", "LDGDEPBAR"
WAITED = (*ISSUED, "DEPBAR.LE SB0, 0")


def of_copies(*lines):
    """Return the races of some lines as pairs of their texts: R1 is each thread's place, R2 one of the other warp's."""
    found = races(read(COPYING + "\n".join(lines) + "\nEXIT"))
    return [(race.first.text, race.second.text, race.first.warp == race.second.warp) for race in found]


def test_a_read_before_the_copy_is_waited_for_is_a_race():
    """Of the same warp as of others; a wait that lets its group be under way is none, nor one before it is closed."""
    copy, read_own = "LDGSTS [R1], [R3]", ("LDS R5, [R1]",)
    assert of_copies(*ISSUED, *read_own) == [(copy, read_own[0], True)]
    assert of_copies(*ISSUED, "DEPBAR.LE SB0, 1", *read_own) == [(copy, read_own[0], True)]
    assert of_copies(copy, "DEPBAR.LE SB0, 0", "LDGDEPBAR", *read_own) == [(copy, read_own[0], True)]
    assert of_copies(*WAITED, *read_own) == []


def test_others_see_what_was_copied_behind_the_wait_and_a_barrier():
    """The wait alone orders nothing for other warps, and a barrier before it neither."""
    copy, other = "LDGSTS [R1], [R3]", "LDS R5, [R2]"
    assert of_copies(*WAITED, "BAR.SYNC 0", other) == []
    assert of_copies(*WAITED, other) == [(copy, other, False)]
    assert of_copies(*ISSUED, "BAR.SYNC 0", "DEPBAR.LE SB0, 0", other) == [(copy, other, False)]


def test_a_stage_that_others_may_still_read_is_not_to_be_copied_to():
    """Behind the reads of a stage a barrier must come before the next copy to it."""
    reads = *WAITED, "BAR.SYNC 0", "LDS R5, [R2]"
    again = "LDGSTS [R1], [R3+0x100]"
    assert of_copies(*reads, again) == [("LDS R5, [R2]", again, False)]
    assert of_copies(*reads, "BAR.SYNC 0", again) == []


def test_a_pipeline_of_two_stages_has_no_race():
    """Copies one stage ahead: the wait lets the newer group be under way, and two barriers order the stages."""
    lines = ["LDGSTS [R1], [R3]", "LDGDEPBAR"]
    for n in range(1, 6):
        here, before = 0x100 * (n % 2), 0x100 * ((n - 1) % 2)
        lines += [f"LDGSTS [R1+{here:#x}], [R3+{4 * n:#x}]", "LDGDEPBAR", "DEPBAR.LE SB0, 1", "BAR.SYNC 0"]
        lines += [f"LDS R5, [R2+{before:#x}]", "BAR.SYNC 0"]
    assert of_copies(*lines) == []
    early = [line.replace("SB0, 1", "SB0, 2") for line in lines]
    assert of_copies(*early) != []
