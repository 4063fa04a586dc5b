"""Limits of the levels of memory, by hand: what a launch must move, at rates of whole cycles."""

import pytest

from gpusim.bounds.bounds import bound
from gpusim.bounds.memory import local_stores, touched
from gpusim.machine.machine import load
from isa.text.listing import read

SMS, MHZ = 132, 1980
# Of an SM: a sector takes 4 cycles of the DRAM (6 if it is written), 1 and 2 of the channels, 2 and 4 of the L2.
RATES = {
    "chip.dram_mbs": 8 * SMS * MHZ,
    "memory.efficiency": 1000,
    "memory.written": 1500,
    "cache.l2_sector_parts": 64,
    "l2_channel.store_parts": 128,
    "l2_channel.store_line_parts": 192,
    "l2_channel.load_bytes": 16 * SMS,
    "l2_channel.store_bytes": 8 * SMS,
    "l2_channel.answer_bytes": 0,
    "l2_channel.load_line_parts": 0,
    "l2_channel.load_least_bytes": 0,
    "l2_channel.spread": 0,
    "l2.sector_bytes": 32,
    "dram.least_bytes": 0,
    "dram.varies": 0,
    "dram.written_alone": 0,
    "global_memory.latency": 1,
    "cache.l2_latency_32": 1,
    "cache.l2_latency_128": 1,
}
BEGIN = """
.grid {blocks}
.block 32
.buffer a u32 {words}
.buffer b u32 {words}
    S2R R0, CTAID.X
    SHL R0, R0, 5
    S2R R1, LANEID
    IADD R0, R0, R1
    SHL R0, R0, 2
    IADD R2, R0, c[a]
    IADD R3, R0, c[b]
"""
NO_ROOM = {"l2__keeps_bytes": 1, "l2__loses_bytes": 2}  # the L2 keeps nothing of what a launch touches
NAMES = "device memory", "L2 channel, loads", "L2, loads", "L2 channel, stores", "L2, stores"


def limits(text, blocks=SMS, words=32 * SMS, sms=1, **changes):
    """Return the limits of a listing whose lanes have their words of a at R2, and of b at R3."""
    settings = {path.replace("__", "."): value for path, value in changes.items()}
    return bound(
        read(BEGIN.format(blocks=blocks, words=words) + text + "EXIT"), load("h200", RATES | settings), sms=sms
    ).limits


def levels(text, **options):
    """Return those of device memory, of the channel and the L2 for loads, of the channel and the L2 for stores."""
    found = limits(text, **options)
    return tuple(found.get(name, 0) for name in NAMES)


def busy(device, channel, l2, *stores):
    """Return these times, and a cycle of latency behind the last sector loaded."""
    return tuple(time + (time > 0) for time in (device, channel, l2)) + stores


LOAD, STORE = "LDG R4, [R2]\n", "STG [R2], R5\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LOAD, (16, 4, 8, 0, 0)),
        (LOAD * 3, (16, 4, 8, 0, 0)),
        (STORE, (0, 0, 0, 8, 16)),
        (STORE + LOAD, (0, 4, 8, 8, 16)),
        (LOAD + STORE, (16, 4, 8, 8, 16)),
        (LOAD + "LDG R6, [R3]\nSTG [R3], R6\n", (32, 8, 16, 8, 16)),
        ("RED.ADD [R2], R5\n" + LOAD, (0, 4, 8, 8, 16)),
    ],
)
def test_a_warp_moves_each_sector_once(text, expected):
    """Four sectors for each array. What is loaded comes once, from the DRAM if it was not stored or updated before."""
    assert levels(text) == busy(*expected)


def test_where_loads_pass_the_l1_each_comes_from_the_l2():
    """Without global loads in the L1 three loads of a sector take the channel and the L2 three times, the DRAM once."""
    assert levels(LOAD * 3, l1__global_loads=0) == busy(16, 12, 24, 0, 0)


def test_an_l2_that_holds_the_buffers_reads_none():
    """With l2.filled nothing comes from the DRAM, but what the L2 has not kept."""
    assert levels(LOAD, l2__filled=1)[0] == 0
    assert levels(LOAD, l2__filled=1, **NO_ROOM)[0] == 16 + 1


def test_what_the_l2_does_not_keep_goes_on():
    """Of what the L2 does not keep stored sectors go on to the DRAM: 16 cycles for those read, 24 for the others."""
    assert levels(LOAD + STORE, **NO_ROOM)[0] == 16 + 24
    assert levels(STORE, **NO_ROOM)[0] == 24
    assert levels(LOAD + STORE, **NO_ROOM, dram__written_alone=1250)[0] == 16 + 20  # perhaps nothing is read then
    assert levels("RED.ADD [R2], R5\n" + STORE, **NO_ROOM)[0] == 0  # the atomic's sector waits there


def test_lanes_apart_take_a_sector_each_and_their_lines():
    """32 lanes 32 bytes apart: 32 sectors of 8 lines, which stores fill in part; 3 cycles, or a sector's 4, a line."""
    apart, words = "SHL R4, R0, 3\nIADD R4, R4, c[a]\n", 8 * 32 * SMS
    assert levels(apart + "LDG R6, [R4]\n", words=words) == busy(4 * 32, 32, 2 * 32, 0, 0)
    assert levels(apart + "STG [R4], R6\n", words=words)[3:] == (2 * 32 + 3 * 8, 4 * 32 + 4 * 8)


@pytest.mark.parametrize(("waiting", "times"), [(0, 2), (31, 2), (32, 1)])
def test_stores_to_a_column_join_none_where_too_few_lines_wait(waiting, times):
    """Two stores to the same sectors of 32 lines, a word of each: with up to 31 lines that wait all of both move."""
    column = "SHL R4, R0, 5\nIADD R4, R4, c[a]\nSTG [R4], R6\nSTG [R4+4], R6\n"
    found = levels(column, words=32 * 32 * SMS, l2_channel__store_lines=waiting)
    whole = 32 * 2 + 32 * 3, 32 * 4 + 32 * 4
    assert found[3:] == (tuple(times * each for each in whole) if times > 1 else (32 * 2, 32 * 4))


LOCAL = ".local 16\nSTL.64 [RZ], R4\nSTL [RZ+4], R4\n"


@pytest.mark.parametrize(
    ("waiting", "blocks", "sectors"), [(24, SMS, 8), (0, SMS, 12), (1, SMS, 8), (1, 2 * SMS, 8 + 4), (24, 2 * SMS, 8)]
)
def test_what_is_stored_locally_goes_to_the_l2(waiting, blocks, sectors):
    """A warp stores two words a thread, one of them twice: eight sectors, or twelve where no line waits to be joined.

    Of a second block in the place of the first as many lines may join as wait.
    """
    changes = {"blocks": blocks, "words": 32 * blocks, "l2_channel__store_lines": waiting}
    assert levels(LOCAL, **changes)[3:] == (2 * sectors, 4 * sectors)
    assert levels(LOCAL, l1__local_stores="back", **changes)[3:] == (0, 0)


def test_blocks_inside_the_grid_store_locally_what_the_middle_one_does(monkeypatch):
    """If the middle block alone is run, all count but the last, as no place depends on the block."""
    grid = {"blocks": 30 * SMS, "words": 32 * 30 * SMS, "l2_channel__store_lines": 0}
    exact = levels(LOCAL, **grid)
    monkeypatch.setattr(local_stores, "ROWS", 0)
    assert levels(LOCAL, **grid) == pytest.approx(exact, rel=1 / 29)
    assert levels(LOCAL, **grid)[3] <= exact[3]


def test_the_l2_is_busy_with_a_line_for_a_while():
    """Of a load of a sector of each line the DRAM brings two, and the L2 is busy for as long as for 64 bytes."""
    apart, words = "SHL R4, R0, 5\nIADD R4, R4, c[a]\n", 32 * 32 * SMS
    changes = {"l2_channel__load_least_bytes": 64, "l2__sector_bytes": 64, "l1__global_loads": 0}
    found = levels(apart + "LDG R6, [R4]\n", words=words, **changes)
    assert found == busy(4 * 2 * 32, 32, 2 * 2 * 32, 0, 0)


def test_a_line_of_which_little_is_wanted_takes_as_long_as_more():
    """32 lanes of which each loads a sector of its line: 16 cycles of the DRAM each as for four, 3 and 4 of the L2."""
    apart = "SHL R4, R0, 5\nIADD R4, R4, c[a]\nLDG R6, [R4]\n"
    least = {"dram__least_bytes": 128, "l2_channel__load_line_parts": 192, "l2_channel__load_least_bytes": 64}
    assert levels(apart, words=32 * 32 * SMS, **least) == busy(4 * 32, 3 * 32, 4 * 32, 0, 0)
    assert levels(LOAD, **least) == busy(16, 4, 8, 0, 0)


def test_what_all_blocks_load_comes_once_for_all():
    """Of 16 lines that each of 132 blocks loads an SM brings its part from the DRAM, 2 KB / 132: no sector."""
    table = "SHL R4, R1, 4\nIADD R4, R4, c[a]\nLDG.128 R8, [R4]\n"
    assert levels(table, words=512) == busy(0, 16, 32, 0, 0)


def test_all_sms_bring_what_their_blocks_touch_together():
    """All SMs: 16 sectors in the DRAM's time of all, and in that of each SM's channel its part of them."""
    table = "SHL R4, R1, 4\nIADD R4, R4, c[a]\nLDG.128 R8, [R4]\n"
    assert levels(table, words=512, sms=SMS) == busy(1, 1, 1, 0, 0)
    assert levels(LOAD, sms=SMS) == levels(LOAD) == busy(16, 4, 8, 0, 0)


@pytest.mark.parametrize("sms", [1, SMS])
def test_blocks_inside_the_grid_stand_for_those_that_are_not_run(sms, monkeypatch):
    """A guard leaves out the last words. If the middle block alone is run, others are further on, but for the last."""
    guarded = f"ISETP.LT P0, R0, {4 * (32 * 30 * SMS - 8)}\n@P0 LDG R4, [R2]\n@P0 STG [R3], R4\n"
    grid = {"blocks": 30 * SMS, "words": 32 * 30 * SMS, "sms": sms}
    exact = levels(guarded, **grid)
    monkeypatch.setattr(touched, "ROWS", 0)
    few = levels(guarded, **grid)
    assert few == pytest.approx(exact, rel=1 / 29)
    assert all(one <= other for one, other in zip(few, exact, strict=True))


def test_the_last_sector_loaded_has_its_latency_behind_it():
    """Four sectors take 16 cycles of the DRAM, then 657; of the L2 8, and 274 to the nearest slice.

    Sectors that go on to the DRAM take it 24 cycles, which may be part of those.
    """
    late = {
        "global_memory__latency": 657,
        "l2_channel__spread": 16,
        "cache__l2_latency_32": 290,
        "cache__l2_latency_128": 303,
    }
    assert limits(LOAD, **late)["device memory"] == 16 + 657
    assert limits(LOAD, **late)["L2, loads"] == 8 + 274
    assert limits(LOAD + STORE, **NO_ROOM, **late)["device memory"] == 16 + 657
    assert limits(STORE, **NO_ROOM, **late)["device memory"] == 24


CHAIN = "LDG R4, [R2]\nLOP.AND R4, R4, 0\nIADD R5, R4, R3\nLDG R6, [R5]\nIADD R6, R6, 1\n"


def test_loads_of_new_lines_have_the_latency_of_where_they_come_from():
    """Two dependent loads of lines of their own have 274 cycles each of an L2 that holds them, or 657 of the DRAM.

    But others may bring the second one's line, as its address is no linear function of the block's place.
    """
    late = {"global_memory__latency": 657, "l2_channel__spread": 16, "cache__l2_latency_32": 290}
    late["cache__l2_latency_128"] = 303
    near = limits(CHAIN.replace("R4, R3", "R4, R2"), l2__filled=1, **late)["dependence chain"]
    far = limits(CHAIN, l2__filled=1, **late)["dependence chain"]
    assert far - near == 274 - 31  # the second one may find its line in the L1
    assert limits(CHAIN, **late)["dependence chain"] - far == 657 - 274


def test_lines_that_other_warps_load_may_be_there():
    """If the second of two warps loads the same, or a warp of another block of the SM, a load may hit the L1."""
    late = {"global_memory__latency": 657, "l2_channel__spread": 16, "cache__l2_latency_32": 290}
    late["cache__l2_latency_128"] = 303
    alone = limits("LDG R4, [R2]\nIADD R4, R4, 1\n", l2__filled=1, **late)["dependence chain"]
    same = "LOP.AND R6, R1, 31\nSHL R6, R6, 2\nIADD R6, R6, c[a]\nLDG R4, [R6]\nIADD R4, R4, 1\n"
    assert limits(same, blocks=SMS + 1, l2__filled=1, **late)["dependence chain"] < alone


def test_the_tag_stage_takes_stores_and_loads():
    """A load of one line takes a cycle, a store of four sectors 172 / 64; the last may still be there at the end.

    16 loads and 16 stores: 16 + 16 x 172 / 64 - 3 cycles.
    """
    text = "".join(f"LDG R4, [R2+{128 * n}]\nSTG [R3+{128 * n}], R5\n" for n in range(16))
    assert limits(text, words=32 * (SMS + 16))["L1 tag stage"] == 16 + 16 * 172 // 64 - 3


EIGHT = "LOP.AND R4, R1, 7\nSHL R4, R4, 2\nIADD R4, R4, c[a]\n"


@pytest.mark.parametrize(
    ("place", "expected"),
    [("MOV R4, c[a]\n", 132 * 32 * 2), (EIGHT, 132 * 4 * 2), ("IADD R4, R2, 0\n", 16)],
)
def test_a_slice_does_the_passes_of_its_words(place, expected):
    """32 lanes of a word take 32 passes of a sector, of 8 words four, of 32 words one of four: 2 cycles each.

    All 132 blocks update the same words; or each its own line, of which a slice has two: 2 x 4 x 2 cycles.
    """
    changes = {"l2_atomic__sector_parts": 128, "l2_atomic__real_parts": 1, "l2_atomic__bytes": 128}
    assert limits(place + "RED.ADD [R4], R5\n", **changes)["L2, atomics"] == expected
    assert limits(place + "RED.ADD [R4], R5\n", sms=SMS, **changes)["L2, atomics"] >= expected


def test_what_the_order_of_warps_decides_counts_nowhere():
    """Where a ticket says where a warp of two loads or stores, no sector counts but what is loaded of other buffers."""
    ticket = "MOV R7, c[t]\nATOMG.ADD R6, [R7], R5\nLOP.AND R6, R6, 31\nSHL R6, R6, 7\nIADD R6, R6, c[b]\n"
    two = {"blocks": 2 * SMS, "words": 2 * 32 * SMS}
    assert levels(".buffer t u32 1\n" + ticket + "LDG R4, [R6]\n", **two)[0] == 0
    assert levels(".buffer t u32 1\n" + ticket + "STG [R6], R5\nLDG R4, [R3]\n", **two)[0] == 0
    assert levels(".buffer t u32 1\n" + ticket + "STG [R6], R5\n" + LOAD, **two)[0] == 2 * 16 + 1
