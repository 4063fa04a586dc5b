"""One SM that stands for all: what it brings from the DRAM, what it waits for, and what others have brought before."""

from types import SimpleNamespace

import pytest
from timing import cycles_of

from gpusim.engines.simulate import ENGINES, run_chip, run_sm
from gpusim.launch.caches import lockstep
from gpusim.launch.feed import FEEDS
from gpusim.machine.machine import load
from gpusim.sm.memory.account.declaration import BUFFERS, L2_BEYOND
from gpusim.sm.memory.l2_share.declaration import UNKNOWN
from gpusim.sm.memory.l2_share.l2_share import crosses, is_lost, place_of
from gpusim.sm.memory.local_memory import LOCAL_BASE
from isa.text.listing import read

# Four SMs with a block each: waves of blocks 0 to 3, 4 to 7, 8 to 11, 12 to 14. The SM has blocks 0, 4, 8 and 12, whose
# columns and rows are (0, 0), (1, 1), (2, 2), (0, 4).
GRID = ".grid 3 5\n.block 32\n.buffer a f32 1024\nS2R R0, CTAID.X\nS2R R1, CTAID.Y\n"
END = "IADD R3, R3, c[a]\nLDG R4, [R3]\nIADD R5, R4, 1\nEXIT"
ROWS, COLUMNS = "SHL R3, R1, 7\n", "SHL R3, R0, 7\n"
OWN, SAME = "IMAD R3, R1, 3, R0\nSHL R3, R3, 7\n", "MOV R3, 0\n"
BY_PRODUCT = "IMUL R3, R1, R1\nLOP.AND R3, R3, 7\nSHL R3, R3, 7\n"
FOUR_SMS = {"chip.sms": 4, "limits.blocks": 1, "cache.hits": "tags", "l1.global_loads": 0}


def waits(which, machine, **options):
    """Return the cycles from each block's load to the instruction that needs the word."""
    kernel = read(GRID + which + END)
    run = run_sm(kernel, machine, trace=True, **options)
    add = len(kernel.program) - 2
    found = [(cycle, pc) for cycle, _, pc in cycles_of(run) if pc in (add - 1, add)]
    return [after - before for (before, _), (after, _) in zip(found[::2], found[1::2], strict=True)]


@pytest.fixture(scope="module")
def machine():
    """A machine whose SM stands for four."""
    return load("rtx2080ti", FOUR_SMS)


def missing():
    """Return the cycles of a load that the L2 lacks."""
    return waits(OWN, load("rtx2080ti", FOUR_SMS | {"chip.sms": 1}))[0]


@pytest.mark.parametrize(
    ("which", "lacking"),
    [
        (OWN, [True, True, True, True]),
        (ROWS, [True, True, False, False]),
        (COLUMNS, [True, False, False, False]),
        (SAME, [True, False, False, False]),
    ],
)
def test_blocks_in_step_wait_for_what_no_wave_has_asked_for(which, lacking, machine):
    """A line of the block's own is new each time; a column's, or everybody's, is there from the second wave on.

    Of rows half of the second wave is in step, 3 in 8 of each further one: the SM waits in the first wave, in the
    second (1/2, and then owes as much), and not in the third and fourth (-1/8, 1/4). No block of the SM asks for column
    1 or 2 before its blocks 4 and 8 do.
    """
    far = machine.cache.l2_latency_32
    assert [one > far + 50 for one in waits(which, machine)] == lacking


@pytest.mark.parametrize(("keeps", "lost"), [(8, False), (4, False), (2, True)])
def test_what_an_earlier_wave_asked_for_is_lost_if_the_l2_keeps_less(keeps, lost):
    """Of columns each of four SMs asks for a line in a wave: four lines. If the L2 keeps 4 they are there again.

    If it keeps 2, and none of 3, the second and third wave wait for them again; the SM's own line of the first, which
    the fourth asks for, is not followed.
    """
    sizes = {"l2.keeps_bytes": 128 * keeps, "l2.loses_bytes": 128 * (keeps + 1), "l2.sector_bytes": 128}
    few = load("rtx2080ti", FOUR_SMS | sizes)
    far = few.cache.l2_latency_32
    assert [one > far + 50 for one in waits(COLUMNS, few)] == [True, lost, lost, False]


def test_lines_between_two_sizes_are_partly_kept():
    """Sixteen SMs ask for three lines each in a wave: of an L2 that keeps all of 32 and none of 64 half is lost."""
    launch = SimpleNamespace(keeps=32, loses=64, sharers=16, apart=16, sms=16)
    unit = SimpleNamespace(waves_apart=64)
    sm = SimpleNamespace(launch=launch, load_store=unit, room_of_wave=3 * 1024)
    assert sum(is_lost(sm, line) for line in range(6400)) == pytest.approx(3200, rel=0.02)
    unit.waves_apart = 128
    assert all(is_lost(sm, line) for line in range(640))


@pytest.mark.parametrize(
    ("along", "ask", "between"), [(0b001, 2, 64), (0b010, 1, 64), (0b100, 1, 3 * 64), (0b011, 4, 64), (0, 1, 64)]
)
def test_blocks_of_a_wave_and_of_others_ask_for_the_same(along, ask, between):
    """Waves of 4 blocks, 3 x 4 x 2 in the grid: along x 3 and 1 of a wave ask for the same, along y the block 3 on.

    Along z the same is asked for 12 blocks on, which is three waves.
    """
    assert lockstep.sharers((3, 4, 2), 4, along) == ask
    assert lockstep.apart((3, 4, 2), 4, along) == between


def test_who_waits_for_others_waits_as_long_as_they(machine):
    """The first block waits as on a chip of one SM, whoever brings the line, but for the channel's time."""
    alone = missing()
    assert waits(SAME, machine)[0] <= alone <= waits(OWN, machine)[0]


def test_addresses_that_move_irregularly_are_not_known_to_be_shared(machine):
    """Where an address is no linear function of the block, the SM brings what is new to it, up to its part."""
    assert [one > machine.cache.l2_latency_32 + 50 for one in waits(BY_PRODUCT, machine)] == [True, True, True, False]


@pytest.mark.parametrize("which", [OWN, ROWS, COLUMNS, SAME, BY_PRODUCT])
def test_engines_and_feeds_agree(which, machine):
    """Both engines find the same waits on every feed."""
    found = {tuple(waits(which, machine, engine=engine, feed=feed)) for engine in ENGINES for feed in FEEDS}
    assert len(found) == 1


LINES = 64  # of a warp's local memory: a word of each lane is a line
SPILLS = f".grid 4\n.block 32\n.local {4 * LINES}\n"
STORED = "".join(f"STL [RZ+{4 * line}], R1\n" for line in range(LINES))
LOADED = "".join(f"LDL R2, [RZ+{4 * line}]\n" for line in range(LINES))
KILOBYTE = 1024


def of_dram(text, kilobytes, sms=4, **options):
    """Return the sectors that one of so many SMs reads from the DRAM and writes there, with an L2 of so many KB."""
    changes = {"l1.local_stores": "through", "l2.bytes": kilobytes * KILOBYTE, "chip.sms": sms}
    kernel = read(SPILLS.replace(".grid 4", f".grid {sms}") + text + "EXIT")
    run = run_sm(kernel, load("rtx2080ti", FOUR_SMS | changes), **options)
    return run.sectors["read"], run.sectors["written"]


def lines_below(place):
    """Return how many of the SM's lines of local memory have a place below this one of 64."""
    return sum(place_of(LOCAL_BASE // 128 + line) < place for line in range(LINES))


@pytest.mark.parametrize(("kilobytes", "kept"), [(64, 64), (32, 64), (16, 32), (8, 16)])
def test_of_local_memory_an_l2_keeps_what_it_holds(kilobytes, kept):
    """Four SMs store 32 KB, then load it. Of 32 KB an L2 of 16 KB keeps half; the rest was written, and is read."""
    lost = 4 * lines_below(64 - kept)
    assert of_dram(STORED + LOADED, kilobytes) == (lost, lost)


def test_what_was_stored_goes_to_the_dram_before_it_is_stored_again():
    """Before a line is stored again four SMs have used 63 others each: of 64 KB 31 parts of 64, of 16 KB all."""
    assert of_dram(STORED + STORED, 64) == (0, 4 * lines_below(63 * 4 * 128 * 64 // (64 * KILOBYTE)))
    assert of_dram(STORED + STORED, 16) == (0, 4 * LINES)


def test_what_is_written_is_written_once():
    """What was written when its line was lost is not written again when the line is stored: 32 KB of 8, all by then."""
    assert of_dram(STORED + LOADED + STORED, 8) == (4 * lines_below(48), 4 * LINES)


def test_a_lost_line_comes_back_sector_by_sector():
    """Half a warp's words of a line that is lost are two sectors; the other half's are two more.

    Line k is loaded 63 - k stores and 2 k loads after it was stored; 64 uses of four SMs are four times what fits.
    """
    lanes = "S2R R3, LANEID\nISETP.LT P0, R3, 16\n"
    halves = "".join(f"@P0 LDL R2, [RZ+{4 * line}]\n@!P0 LDL R2, [RZ+{4 * line}]\n" for line in range(LINES))
    once, _ = of_dram(lanes + STORED + "".join(f"@P0 LDL R2, [RZ+{4 * line}]\n" for line in range(LINES)), 8)
    assert once == 2 * lines_below(48)
    since = [4 * (LINES - 1 + line) for line in range(LINES)]  # in 1/64 of the L2, which has 64 lines
    lost = [place_of(LOCAL_BASE // 128 + line) * used < LINES * (used - LINES) for line, used in enumerate(since)]
    assert of_dram(lanes + STORED + halves, 8)[0] == 4 * sum(lost)


def test_a_line_used_a_moment_ago_is_there():
    """Of a line that is stored and loaded in turn nothing is lost and nothing goes on, however small the L2."""
    assert of_dram("STL [RZ], R1\nLDL R2, [RZ]\n" * 8, 8) == (0, 0)


def test_hits_take_no_room():
    """A word that is loaded 100 times takes one line: 32 KB are enough for 8 KB of two SMs, of which none is lost."""
    again = ".buffer x u32 32\nMOV R5, c[x]\n" + STORED + "LDG R4, [R5]\n" * 100 + LOADED
    assert of_dram(again, 32, sms=2)[1] == 0


@pytest.mark.parametrize("some", [2, 4, 8])
def test_a_sample_of_sms_counts_its_uses_together(some):
    """Eight SMs' 8 KB each fit 64 KB, for one SM that stands for eight, for two and four of them, and for all."""
    changes = {"l1.local_stores": "through", "l2.bytes": 64 * KILOBYTE, "chip.sms": 8}
    kernel = read(SPILLS.replace(".grid 4", ".grid 8") + STORED + LOADED + "EXIT")
    machine = load("rtx2080ti", FOUR_SMS | changes)
    assert [run.sectors["read"] for run in run_chip(kernel, machine, sms=some).each] == [0] * some
    assert run_sm(kernel, machine).sectors["read"] == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_and_feeds_agree_on_local_memory(engine):
    """Both engines lose the same lines on every feed."""
    assert len({of_dram(STORED + LOADED + STORED, 16, engine=engine, feed=feed) for feed in FEEDS}) == 1


def test_an_sm_alone_shares_its_l2_with_nobody():
    """One SM has 16 KB for its 8: nothing is lost, and nothing goes on."""
    assert of_dram(STORED + LOADED + STORED, 16, sms=1) == (0, 0)


def test_a_launch_has_time_for_what_it_stores_and_the_l2_does_not_keep():
    """Four SMs store to 64 lines of a buffer that the L2 loses: a share has 8 cycles for each sector, or 12.

    Where the L2 keeps the buffer the launch waits for none of them, but if so much may not be dirty.
    """
    stores = "".join(f"STG [R0+{128 * line}], R1\n" for line in range(64))
    kernel = read(f".grid 4\n.buffer x u32 2048\nMOV R0, c[x]\n{stores}EXIT")
    fill = {"l2.filled": 1, "chip.dram_mbs": 16000, "chip.shader_mhz": 1000, "memory.efficiency": 1000}
    machine = FOUR_SMS | fill

    def cycles(loses, written, dirty=0):
        sizes = {"l2.keeps_bytes": loses // 2, "l2.loses_bytes": loses, "memory.written": written}
        sizes["l2.dirty_loses_bytes"] = dirty
        return run_sm(kernel, load("rtx2080ti", machine | sizes)).cycles

    assert cycles(2, 1500) - cycles(2, 1000) == 64 * 4
    assert cycles(2, 1000) > 64 * 8
    assert cycles(1 << 20, 1500) == cycles(1 << 20, 1000) < 64 * 8
    assert cycles(1 << 20, 1500, dirty=2) == cycles(2, 1500)


def test_all_sms_have_time_for_what_they_store_and_the_l2_does_not_keep():
    """Four SMs, all simulated, store to 64 lines each: the DRAM has 2 cycles for each sector, or 3, behind the last."""
    stores = "".join(f"STG [R0+{128 * line}], R1\n" for line in range(64))
    own = "S2R R2, CTAID.X\nSHL R2, R2, 13\nIADD R0, R2, c[x]"
    kernel = read(f".grid 4\n.buffer x u32 8192\n{own}\n{stores}EXIT")
    fill = {"l2.filled": 1, "chip.dram_mbs": 16000, "chip.shader_mhz": 1000, "memory.efficiency": 1000}

    def cycles(loses, written):
        sizes = {"l2.keeps_bytes": loses // 2, "l2.loses_bytes": loses, "memory.written": written}
        return run_chip(kernel, load("rtx2080ti", FOUR_SMS | fill | sizes)).cycles

    assert cycles(2, 1500) - cycles(2, 1000) == 4 * 64
    assert cycles(2, 1000) > 4 * 64 * 2
    assert cycles(1 << 20, 1500) == cycles(1 << 20, 1000) < 4 * 64 * 2


EACH, LATE = 32, 200  # of each block, one after the other; cycles by which a line of the other half comes later
HALVES = {"chip.sms": 4, "limits.blocks": 1, "cache.hits": "tags", "l2.filled": 1, "l2_partition.late": LATE}
CHAIN = """.grid {blocks}
.block 32
.buffer a u32 {words}
.buffer b u32 65536
    S2R R0, CTAID.X
    S2R R7, LANEID
    SHL R7, R7, 2
    {place}
    SHL R1, R1, 12
    IADD R1, R1, R7
    IADD R2, R1, c[a]
    IADD R3, R1, c[{stored}]
    MOV R4, 0
again:
    LDG R5, [R2]
    LOP.AND R6, R5, 0
    STG [R3], R4
    IADD R2, R2, R6
    IADD R2, R2, 128
    IADD R3, R3, 128
    IADD R4, R4, 1
    ISETP.LT P0, R4, {lines}
@P0 BRA again
    EXIT"""


def crossing(blocks, stored="b", place="MOV R1, R0", words=32768):
    """Return the lines of the SM's blocks that only the other half of the L2 has, and by how much longer they take."""
    kernel = read(CHAIN.format(blocks=blocks, stored=stored, place=place, words=words, lines=EACH))
    runs = [run_sm(kernel, load("h200", {**HALVES, "l2_partition.late": late})) for late in (LATE, 0)]
    return int(runs[0].account[..., L2_BEYOND].sum()) // 4, runs[0].cycles - runs[1].cycles


def test_blocks_of_the_first_wave_find_what_they_had_before():
    """They are on the SMs on which they were in the launch before; so is all of a launch of one wave."""
    assert crossing(4) == (0, 0)


@pytest.mark.parametrize(("stored", "part"), [("b", 1 / 8), ("a", 1 / 4)])
def test_later_blocks_are_on_another_side_than_before(stored, part):
    """Half of all lines has its place there, of these half were stored by the other side, and half read by it.

    Of 96 lines of three later blocks, of which each waits for the last. What the launch stores to, its readers do not
    keep.
    """
    lines, cycles = crossing(16, stored)
    assert lines == pytest.approx(3 * EACH * part, abs=4)
    assert cycles == LATE * lines


def test_lines_that_another_wave_has_asked_for_are_near():
    """All blocks read the same: the first wave has brought it to both halves."""
    assert crossing(16, place="MOV R1, 0") == (0, 0)


def test_others_may_have_asked_for_unknown_places():
    """Of a buffer of 32 KB the SM is first with its part, 8 KB, where nobody knows what others ask for: two blocks."""
    place = "SHR R1, R0, 2\n    LOP.AND R1, R1, 31"
    lines, cycles = crossing(32, place=place, words=8192)
    assert lines == pytest.approx(2 * EACH / 8, abs=4)
    assert cycles == LATE * lines


@pytest.mark.parametrize(
    ("blocks", "stored", "place", "part"),
    [
        (4, "b", "MOV R1, R0", 0),  # one wave
        (16, "b", "MOV R1, R0", 12 / 8),
        (16, "a", "MOV R1, R0", 12 / 4),
        (16, "b", "MOV R1, 0", 0),  # the first wave has asked for the same
        (16, "b", "SHR R1, R0, 2", 3 / 8),  # all blocks of a wave ask for the same: only the first crosses
    ],
)
def test_all_sms_find_lines_in_the_other_half(blocks, stored, place, part):
    """Four SMs, two near each half: a line is crossed for where place, storer and reader before were on the other side.

    That is an eighth of the lines for which later blocks ask first of all, of a buffer that is stored to a quarter.
    """
    kernel = read(CHAIN.format(blocks=blocks, stored=stored, place=place, words=32768, lines=EACH))
    run = run_chip(kernel, load("h200", HALVES))
    lines = int(run.account[..., L2_BEYOND].sum()) // 4
    assert lines == pytest.approx(EACH * part, abs=EACH * part / 4)


def test_the_halves_lack_different_lines():
    """What is in both or in one half is in that half: no line is crossed for from both sides."""
    chances = SimpleNamespace(launch=SimpleNamespace(sharers=0, side=0), stored=[0])
    chances.load_store = SimpleNamespace(later=1, from_others=UNKNOWN, placed=BUFFERS)
    crossed = []
    for chances.launch.side in (0, 1):
        crossed.append({line for line in range(4096) if crosses(chances, line, 1)})
        assert len(crossed[-1]) == pytest.approx(4096 / 8, rel=0.05)
    assert not crossed[0] & crossed[1]


def test_an_l2_of_one_part_has_no_other():
    """On an RTX 2080 Ti all that the L2 has kept is near."""
    kernel = read(CHAIN.format(blocks=16, stored="b", place="MOV R1, R0", words=32768, lines=EACH))
    run = run_sm(kernel, load("rtx2080ti", {**FOUR_SMS, "l2.filled": 1}))
    assert run.account[..., L2_BEYOND].sum() == 0
