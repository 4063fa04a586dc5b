"""Atomics in the L2's slices: lanes of a word follow each other, SMs that stand for others, and what waits behind."""

from itertools import pairwise
from types import SimpleNamespace

import pytest
from tagged_caches import TAGS
from timing import cycles_of, plain_machine, run_text

from gpusim.engines.simulate import run_chip, run_sm
from gpusim.simulation.simulation import simulate
from gpusim.sm.memory.l2_atomic import l2_atomic
from gpusim.sm.memory.l2_atomic.declaration import sums_doubles, updates_reals
from gpusim.sm.unit.opcodes import LOAD
from gpusim.sm.unit.stall import Stall
from isa.errors import UserError
from isa.table import machine_row
from isa.text.listing import read

# Packets leave the SM in no time to speak of. A pass takes its slice 10 cycles for each sector, a pass of real numbers
# behind another of its line 50. All lines of the buffer lie in one slice.
SLICES = TAGS | {
    "global_memory.rule": "sectors",
    "l2.bytes": 32768,
    "l2.filled": 1,
    "global_atomic.latency": 200,
    "global_atomic.packet_parts": 1,
    "l2_atomic.slices": 1,
    "l2_atomic.bytes": 256,
    "l2_atomic.sector_parts": 640,
    "l2_atomic.whole_parts": 640,
    "l2_atomic.real_parts": 3200,
    "l2_atomic.waiting": 1000,
}
PLACES = {  # each lane's word
    "one word": "MOV R0, 0",
    "two words": "LOP.AND R0, R0, 1",
    "a sector": "LOP.AND R0, R0, 7",
    "a line": "NOP",
    "four lines": "SHL R0, R0, 2",
}


def text(places, *body, grid=1):
    """Return a listing that does something at each lane's word, whose address is in R0; R3 is 1."""
    return "\n".join(
        [
            f".grid {grid}\n.buffer x u32 4096\nS2R R0, LANEID",
            PLACES[places],
            "SHL R0, R0, 2\nIADD R0, R0, c[x]\nMOV R3, 1",
            *body,
            "EXIT",
        ]
    )


def wait(run, first, second):
    """Return the cycles from the service of the instruction at one pc to the issue of that at another."""
    served = next(cycle for cycle, _, pc in cycles_of(run, "serve") if pc == first)
    return next(cycle for cycle, _, pc in cycles_of(run) if pc == second) - served


@pytest.mark.parametrize(
    ("places", "taken"),
    [
        ("one word", 32 * 10),  # 32 passes of a sector
        ("two words", 16 * 10),
        ("a sector", 4 * 10),
        ("a line", 4 * 10),  # one pass of four sectors
        ("four lines", 4 * 4 * 10),
    ],
)
def test_lanes_of_a_word_follow_each_other_in_its_slice(places, taken):
    """An old value comes when the slice has done all passes of its line, and the latency behind that."""
    run = run_text(text(places, "ATOMG.ADD R4, [R0], R3", "IADD R5, R4, 1"), SLICES)
    assert wait(run, 5, 6) in (200 + taken, 200 + taken + 1)  # issues at even cycles


def test_reals_wait_for_each_other_s_sums():
    """A pass of reals takes 50 cycles behind another one of its line, and else 10 for each sector.

    Requests of 32 lanes at a word, of one lane at it, of one at another line, and of 32 at words of their own.
    """
    machine = SimpleNamespace(slices=1, slice_lines=4, update_parts=640, packet_parts=64, at_once=0, pass_parts=640)
    unit = SimpleNamespace(slice=[0], updating=[0], slice_line=[0], stands=0, updates=0, updates_began=0, updated=0)
    unit.updates_sent = 0
    sm = SimpleNamespace(machine=machine, load_store=unit, launch=SimpleNamespace(sharers=1, sms=1, apart=1))
    real = SimpleNamespace(action=LOAD, packets=1, pass_parts=3200, doubles=0, slice_blocks=0, slice_share=0)
    requests = [(7, 32, 32, 32), (7, 1, 1, 1), (8, 1, 1, 1), (8, 32, 1, 4)]
    done = [l2_atomic.update(sm, real, line, *work, 0) for line, *work in ((n, noted(*w)) for n, *w in requests)]
    assert done == [31 * 50, 32 * 50, 32 * 50 + 10, 33 * 50 + 10]


@pytest.mark.parametrize(
    ("mnemonic", "work", "taken"),
    [
        ("ATOMG.E.CAS.STRONG.GPU", (32, 1, 4), 80),  # 32 words of a line: twice ten cycles for each sector
        ("ATOMG.E.CAS.STRONG.GPU", (32, 32, 32), 320),  # one word: each pass is of one lane, and 5 cycles are less
        ("ATOMG.E.ADD.STRONG.GPU", (32, 1, 4), 40),
        ("ATOMG.E.ADD.F64.RN.STRONG.GPU", (32, 2, 8), 160),  # four doubles of each sector
        ("ATOMG.E.ADD.F64.RN.STRONG.GPU", (4, 1, 4), 40),  # one of each
    ],
)
def test_two_operands_and_doubles_take_a_slice_twice(mnemonic, work, taken):
    """Lanes that compare and swap together, and several doubles of a sector, take twice ten cycles for each sector."""
    row, machine = machine_row(mnemonic), SimpleNamespace(update_parts=640)
    operands = row.form.count("a") + row.form.count("b")
    doubles = sums_doubles(SimpleNamespace(row=row))
    found = l2_atomic.of_sectors(
        SimpleNamespace(machine=machine), SimpleNamespace(packets=operands, doubles=doubles), *work
    )
    assert found == 64 * taken


def noted(lanes, passes, sectors):
    """Return the work of a request as requests.py notes it."""
    return lanes << l2_atomic.OF_LANES | passes << l2_atomic.PASSES | sectors


def test_what_updates_reals():
    """Machine code names the type of an atomic on real numbers."""
    forms = {"REDG.E.ADD.F32.FTZ.RN.STRONG.GPU": True, "REDG.E.ADD.STRONG.GPU": False, "ATOMG.E.ADD.F16x2.RN": True}
    for mnemonic, real in forms.items():
        assert updates_reals(SimpleNamespace(row=machine_row(mnemonic))) == real


def test_an_atomic_without_a_result_goes_on_until_too_many_lanes_wait():
    """Two have 64 lanes at a word, done in 640 cycles. The third is served when 40 lanes are left, done evenly."""
    body = ["RED.ADD [R0], R3"] * 3
    few = run_text(text("one word", *body), SLICES | {"l2_atomic.waiting": 40})
    begin, second, third = (cycle for cycle, _, _ in cycles_of(few, "serve"))
    assert second - begin <= 8
    assert third - begin == 640 - 640 * 40 // 64
    many = [cycle for cycle, _, _ in cycles_of(run_text(text("one word", *body), SLICES), "serve")]
    assert many[2] - many[0] <= 16


@pytest.mark.parametrize(
    ("places", "grid", "taken"),
    [
        ("one word", 8, 20),  # a sector, and once more for a part of one
        ("a line", 8, 40),  # four whole sectors
        ("four lines", 8, 4 * 50),  # two words of each of four sectors of each line
        ("a line", 1, 0),  # of one block: its own
    ],
)
def test_stores_of_blocks_to_the_same_lines_take_a_slice(places, grid, taken):
    """A slice takes ten cycles for each sector, and ten for each line of which a store leaves parts of sectors."""
    run = run_text(text(places, "STG [R0], R3", grid=grid), SLICES | CHANNEL)
    served = next(cycle for cycle, _, _ in cycles_of(run, "serve"))
    left = max(served + 1, int(run.trace["cycle"].max()))
    assert run.cycles == (served + 1 + 8 * taken if taken else left)


def test_a_load_goes_to_the_l2_behind_the_sm_s_atomics():
    """A load behind 32 lanes at one word asks the L2 320 cycles later; one that hits the L1 does not wait."""
    body = ["LDG R6, [R0+1024]", "IADD R7, R6, 1", "RED.ADD [R0], R3", "LDG R4, [R0+{}]", "IADD R5, R4, 1"]
    missing, hitting = (
        wait(run_text(text("one word", *body[:3], body[3].format(offset), body[4]), SLICES), 8, 9)
        for offset in (512, 1024)
    )
    assert 410 <= missing <= 425
    assert hitting <= 22


def test_a_launch_ends_when_the_l2_has_done_its_atomics():
    """32 lanes at a word take the slice 320 cycles, which no warp waits for: the launch does, without a warp."""
    run = run_text(text("one word", "RED.ADD [R0], R3"), SLICES)
    served = next(cycle for cycle, _, _ in cycles_of(run, "serve"))
    left = int(run.trace["cycle"].max())
    assert run.cycles == served + 320 > left + 200
    assert run.empty == run.cycles - left
    assert run.stalls.sum() + run.empty == run.cycles * run.warp_slots
    assert run.behind == run.lost[0, Stall.NO_WARP] == run.cycles - left


@pytest.mark.parametrize(("body", "again"), [("RED.ADD [R0], R3", 0), ("ATOMG.ADD R4, [R0], R3", 380)])
def test_a_further_block_adds_what_its_own_atomics_take(body, again):
    """Four SMs of one place each, 1 to 9 blocks: each adds its 320 cycles.

    Where old values are waited for, the first one of a wave adds the way there and back: its SM waits for those before.
    """
    machine = plain_machine(SLICES | {"chip.sms": 4, "chip.dram_mbs": 128000, "limits.blocks": 1, **CHANNEL})
    taken = [run_sm(read(text("one word", body, grid=blocks)), machine).cycles for blocks in range(1, 10)]
    grown = [later - earlier for earlier, later in pairwise(taken)]
    assert grown == [320 + again * (before % 4 == 0) for before in range(1, 9)]


@pytest.mark.parametrize(("body", "each"), [("RED.ADD [R0], R3", 320), ("STG [R0], R3", 20)])
def test_all_sms_and_one_that_stands_for_them_end_together(body, each):
    """Six blocks on four SMs update or store one word: the last wave has two blocks, for one SM as for all."""
    machine = plain_machine(SLICES | {"chip.sms": 4, "chip.dram_mbs": 128000, **CHANNEL})
    kernel = read(text("one word", body, grid=6))
    one, everyone = run_sm(kernel, machine).cycles, run_chip(kernel, machine).cycles
    assert abs(one - everyone) <= 8
    assert 6 * each <= one <= 6 * each + 100


@pytest.mark.parametrize(("step", "cost"), [(0, 4), (64, 4), (256, 2), (1024, 2)])
def test_an_sm_that_stands_for_all_waits_for_their_atomics(step, cost):
    """Four SMs that update one line at once take a slice four times as long; their own lines, spread over two, twice.

    Blocks are so many bytes apart; within 512 they share a slice.
    """
    place = f"S2R R1, CTAID.X\nIMUL R1, R1, {step}\nIADD R0, R0, R1"
    body = [place, "ATOMG.ADD R4, [R0], R3", "IADD R5, R4, 1"]
    machine = plain_machine(SLICES | {"l2_atomic.slices": 2, "chip.sms": 4, "chip.dram_mbs": 128000, **CHANNEL})
    run = run_sm(read(text("one word", *body, grid=4)), machine, trace=True)
    assert abs(wait(run, 8, 9) - (200 + cost * 320)) <= 1


CHANNEL = {
    "l2_channel.store_parts": 1,
    "l2_channel.store_line_parts": 0,
    "l2_channel.store_buffer": 100,
    "l2_channel.spread": 0,
    "l2_channel.load_bytes": 1_000_000,
    "l2_channel.store_bytes": 1_000_000,
}


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize(
    "place",
    [
        "ISETP.EQ P0, R3, 0\n@P0 RED.ADD [R2], R1",
        "LOP.AND R3, R3, 7\nSHL R3, R3, 12\nIADD R2, R2, R3\nRED.ADD [R2], R1",
        "ISETP.LT P0, R3, 200\n@P0 RED.ADD [R2], R1",
    ],
    ids=["the first block", "eight places", "all blocks, under a guard"],
)
def test_an_atomic_counts_for_the_sms_that_do_it(place):
    """Of 132 blocks on an H200 one updates a word, or 16 or 17 each of eight, or all: one SM takes what all take."""
    head = ".grid 132\n.block 256\n.buffer x u32 8192\nMOV R2, c[x]\nMOV R1, 1\nS2R R3, CTAID.X"
    kernel = read(f"{head}\n{place}\nEXIT")
    one, everyone = (simulate(kernel, "h200", sms=sms).cycles for sms in (1, "all"))
    assert one == pytest.approx(everyone, rel=0.02)


def test_all_sms_share_the_slices():
    """Two SMs that update a word at once: the second is done 320 cycles behind the first one."""
    body = ["ATOMG.ADD R4, [R0], R3", "IADD R5, R4, 1"]
    kernel = read(text("one word", *body, grid=2))
    alone, both = (
        run_chip(kernel, plain_machine(SLICES | {"chip.sms": sms, "chip.dram_mbs": 32000 * sms})).cycles
        for sms in (1, 2)
    )
    assert 640 + 200 < both < 640 + 300
    assert abs(alone - both) <= 8  # two blocks of one SM take the slice as two SMs do


def test_slices_take_neighbouring_bytes_in_turn():
    """Of eight lines of 128 bytes two slices have two in turn; of 4,096 each of 80 slices has 1.1 to 1.4 %."""
    machine = plain_machine(SLICES | {"l2_atomic.slices": 80})
    numbers = type("Machine", (), {"slices": machine.l2_atomic.slices, "slice_lines": 2})
    found = [l2_atomic.slice_of(numbers, line) for line in range(4096)]
    assert all(found[line] == found[line - line % 8 + line % 4 // 2 * 2] for line in range(4096))
    assert all(found[line] != found[line + 2] for line in range(0, 4096, 8))
    assert all(0.011 < found.count(one) / 4096 < 0.014 for one in range(80))


def test_a_slice_has_whole_lines():
    """A part of a line in a slice is refused with its place."""
    with pytest.raises(UserError, match=r"--set l2_atomic\.bytes: 64 bytes of a slice are no whole lines"):
        plain_machine(SLICES | {"l2_atomic.bytes": 64})
