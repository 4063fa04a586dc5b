"""Constant loads: distinct words one after the other, from a cache of their own."""

import pytest
from test_cache import FAR, MISS, TAGS
from timing import cycles_of, plain_machine, run_text, stalled

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.sm.unit.stall import Stall
from isa.errors import UserError
from isa.text.listing import read

CONSTANTS = {
    "constant_cache.bytes": 256,
    "constant_cache.sector_bytes": 32,
    "constant_cache.ways": 1,
    "constant_cache.latency": 20,
    "constant_cache.request_cycles": 4,
}


def loaded(distinct):
    """Return a program with a load of so many distinct constants, equal in neighbouring lanes, and a load of one."""
    return f"""
.buffer x u32 64 = iota
    S2R R0, LANEID
    SHR R0, R0, {5 - distinct.bit_length() + 1}
    SHL R0, R0, 2
    IADD R0, R0, c[x]
    MOV R1, c[x]
    LDC R2, [R0]
    LDC R3, [R1]
    IADD R4, R2, 1
    EXIT
"""


@pytest.mark.parametrize("feed", ["execution-driven", "trace-driven"])
@pytest.mark.parametrize("distinct", [1, 2, 8, 32])
def test_distinct_words_follow_each_other(distinct, feed):
    """Each distinct word takes the unit 4 cycles and comes 20 cycles after its turn; the next load waits for all."""
    run = run_sm(read(loaded(distinct)), plain_machine(CONSTANTS), feed=feed, trace=True)
    issued, served = ({pc: cycle for cycle, _, pc in cycles_of(run, kind)} for kind in ("issue", "serve"))
    assert served[6] - served[5] == max(4 * distinct, 6)  # a warp issues every 6 cycles
    assert issued[7] - served[5] == 20 + 4 * (distinct - 1)


def test_constant_loads_are_not_replayed():
    """A machine that replays accesses with conflicts does not replay a constant load of 32 distinct words."""
    replays = {"instruction_replay.pass_slots": 1, "instruction_replay.request_slots": 1}
    assert stalled(run_text(loaded(32), CONSTANTS | replays), Stall.INSTRUCTION_REPLAY) == 0


def test_constants_have_a_cache_of_their_own():
    """With tags a sector's first word comes from DRAM, its neighbour hits in 20 cycles, and the L1 gets neither."""
    text = """
.buffer x u32 64
    MOV R1, c[x]
    LDC R2, [R1]
    IADD R4, R2, 1
    LDC R2, [R1+4]
    IADD R4, R2, 1
    LDG R2, [R1]
    IADD R4, R2, 1
    EXIT
"""
    run = run_text(text, TAGS | CONSTANTS)
    issued, served = ({pc: cycle for cycle, _, pc in cycles_of(run, kind)} for kind in ("issue", "serve"))
    assert [issued[pc + 1] - served[pc] for pc in (1, 3, 5)] == [MISS, 20, FAR + 1]


def test_lines_of_constants_make_room():
    """In a constant cache of two sets of one way, line 2 replaces line 0."""
    loads = "".join(f"LDC R2, [R1+{128 * line}]\nIADD R4, R2, 1\n" for line in (0, 2, 0))
    run = run_text(f".buffer x u32 1024\nMOV R1, c[x]\n{loads}EXIT", TAGS | CONSTANTS)
    issued, served = ({pc: cycle for cycle, _, pc in cycles_of(run, kind)} for kind in ("issue", "serve"))
    assert [issued[pc + 1] - served[pc] for pc in (1, 3, 5)] == [MISS, MISS, FAR + 1]


def test_the_next_cache_has_what_came_with_another_line():
    """Sectors of a line, and lines of the same 256 bytes, come after 60 cycles where one of them came from DRAM."""
    loads = "".join(f"LDC R2, [R1+{byte}]\nIADD R4, R2, 1\n" for byte in (0, 32, 128, 256, 36))
    near = {"constant_cache.bytes": 1024, "constant_cache.next_latency": 60, "constant_cache.next_bytes": 256}
    run = run_text(f".buffer x u32 1024\nMOV R1, c[x]\n{loads}EXIT", TAGS | CONSTANTS | near)
    issued, served = ({pc: cycle for cycle, _, pc in cycles_of(run, kind)} for kind in ("issue", "serve"))
    assert [issued[pc + 1] - served[pc] for pc in (1, 3, 5, 7, 9)] == [MISS, 60, 60, MISS, 20]


def test_sectors_of_a_load_are_asked_for_one_after_the_other():
    """Lanes in 1, 2 and 4 sectors: each is asked for when the one before is back, 60 - 20 cycles later.

    The unit serves the next load only when the last sector has been asked for.
    """
    near = {"constant_cache.bytes": 1024, "constant_cache.next_latency": 60, "constant_cache.next_bytes": 1024}
    for sectors in (1, 2, 4):
        text = f"""
.buffer x u32 1024
    MOV R1, c[x]
    LDC R2, [R1+128]
    S2R R0, LANEID
    LOP.AND R0, R0, {sectors - 1}
    SHL R0, R0, 5
    IADD R0, R0, R1
    IADD R2, R2, 1
    LDC R3, [R0]
    LDC R4, [R1+128]
    IADD R5, R3, 1
    EXIT
"""
        run = run_text(
            text, TAGS | CONSTANTS | near | {"constant_cache.request_cycles": 1, "constant_cache.in_series": 1}
        )
        issued, served = ({pc: cycle for cycle, _, pc in cycles_of(run, kind)} for kind in ("issue", "serve"))
        back = 60 + 40 * (sectors - 1) + (sectors - 1)  # a cycle for each further word
        assert issued[9] - served[7] == pytest.approx(back, abs=1)  # a slot has two cycles
        assert served[8] - served[7] == max(6, 40 * (sectors - 1) + sectors)


def test_a_machine_without_constants_refuses_them():
    """A machine without a constant cache refuses LDC; the message names the missing section."""
    with pytest.raises(UserError, match=r"v100 has no LDC: its file has no \[constant_cache\]"):
        run_sm(read(loaded(1)), load("v100"))
