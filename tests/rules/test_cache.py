"""Caches that keep tags: what hits, what makes room, what moves, and when it comes."""

import msgspec
import numpy as np
import pytest
from timing import cycles_of, plain_machine, run_text

from gpusim.engines.simulate import ENGINES, run_chip, run_sm
from gpusim.machine.machine import load, names
from isa.errors import UserError
from isa.text.listing import read

# A hit in the L1 takes 20 cycles, one in the L2 100, both behind a channel that moves 32 bytes per cycle; the DRAM's
# channel moves as much, and a latency of 300 follows. The L1 has one set of two lines, the L2 one of four.
TAGS = {
    "cache.hits": "tags",
    **{f"cache.l1_latency_{width}": 20 for width in (32, 64, 128)},
    **{f"cache.l2_latency_{width}": 100 for width in (32, 64, 128)},
    "cache.l1_late": 0,
    "cache.l2_late": 0,
    "cache.l2_sector_parts": 64,
    "l1.bytes": 256,
    "l1.sector_bytes": 32,
    "l1.ways": 2,
    "l1.misses": 8,
    "l1.global_loads": 1,
    "l1.global_stores": "evict",
    "l1.local_stores": "back",
    "l2.bytes": 512,
    "l2.sector_bytes": 32,
    "l2.ways": 4,
    "local_memory.latency": 20,
    "local_memory.request_cycles": 1,
    "global_memory.latency": 300,
    "global_memory.request_cycles": 1,
    "chip.shader_mhz": 1000,
    "chip.dram_mbs": 32000,
}
SCALAR_FILE = {"scalar_file.registers": 800, "scalar_file.unit": 16, "scalar_file.per_warp": 102}
HIT, FAR, MISS = 20, 101, 302  # cycles of a load of 32 bytes that is alone


def latencies(accesses, changes=None, local=0):
    """Return the cycles that each load takes, from its service to an instruction that needs it; stores are let pass."""
    lines = [f".local {local}\n.buffer x u32 4096\nMOV R0, c[x]"]
    for access in accesses:
        lines += [access, "NOP"] if access.startswith("ST") else [access, "IADD R3, R2, 1"]
    run = run_text("\n".join([*lines, "EXIT"]), TAGS | (changes or {}))
    issued, served = ({pc: cycle for cycle, _, pc in cycles_of(run, kind)} for kind in ("issue", "serve"))
    return [issued[2 + 2 * i] - served[1 + 2 * i] for i, access in enumerate(accesses) if access.startswith("LD")]


def loads(*lines):
    """Return loads of these lines of 128 bytes, from their first word."""
    return [f"LDG R2, [R0+{128 * line}]" for line in lines]


def test_the_line_used_longest_ago_makes_room():
    """Of a set of two A B A C A B A: C takes B's place, B then C's, and A stays all the while; the L2 has all."""
    assert latencies(loads(0, 1, 0, 2, 0, 1, 0)) == [MISS, MISS, HIT, MISS, HIT, FAR + 1, HIT]


def test_a_line_has_a_set_of_its_own():
    """Eight lines in four sets of two: lines 0, 4 and 8 share a set, and the third takes the place of the first."""
    found = latencies(loads(0, 4, 1, 8, 1, 4, 0), {"l1.bytes": 1024, "l2.bytes": 4096})
    assert found == [MISS, MISS, MISS, MISS, HIT, HIT, FAR + 1]


@pytest.mark.parametrize(("sector", "second"), [(32, MISS), (64, HIT), (128, HIT)])
def test_a_miss_brings_a_sector(sector, second):
    """The next 32 bytes are there only if they lie in the sector that came; more bytes take the channels longer."""
    changes = {"l1.sector_bytes": sector, "l2.sector_bytes": 32}
    first, *rest = latencies(["LDG R2, [R0]", "LDG R2, [R0+32]", "LDG R2, [R0]"], changes)
    assert first == MISS + 2 * (sector // 32 - 1)
    assert rest == [second, HIT]


def test_the_l2_brings_sectors_of_its_own():
    """The L1 asks for 32 bytes, the L2 gets 64: the bytes beside hit there."""
    found = latencies(["LDG R2, [R0]", "LDG R2, [R0+32]", "LDG R2, [R0+64]"], {"l2.sector_bytes": 64})
    assert found == [MISS + 2, FAR + 1, MISS + 2]


def test_loads_that_pass_the_l1_hit_the_l2():
    """With `global_loads` 0 no load hits the L1, whatever was loaded before."""
    assert latencies(loads(0, 0, 0), {"l1.global_loads": 0}) == [MISS, FAR + 1, FAR + 1]


@pytest.mark.parametrize(("rule", "again"), [("evict", FAR + 1), ("update", HIT)])
def test_a_global_store_goes_through_the_l1(rule, again):
    """It drops the line of a Fermi, leaves that of a later L1, and brings none; the L2 keeps what is stored."""
    accesses = [*loads(0), "STG [R0], R1", *loads(0), "STG [R0+128], R1", *loads(1)]
    assert latencies(accesses, {"l1.global_stores": rule}) == [MISS, again, FAR + 1]


@pytest.mark.parametrize(("rule", "again"), [("back", HIT), ("through", FAR + 3)])
def test_a_local_store_stays_in_a_write_back_l1(rule, again):
    """A warp's word lies in one line of 128 bytes: there for its load, or in the L2, four sectors and no DRAM away."""
    assert latencies(["STL [RZ], R1", "LDL R2, [RZ]"], {"l1.local_stores": rule}, local=4) == [again]


def test_what_was_stored_moves_when_it_makes_room():
    """Five lines stored to in an L2 of four: the first, 32 bytes, takes the DRAM's channel ahead of a load."""
    changes = {"chip.dram_mbs": 320}  # 32 bytes in 100 cycles
    stores = [f"STG [R0+{128 * line}], R1" for line in range(4)]
    (clean,) = latencies([*stores[:3], *loads(5)], changes)
    (dirty,) = latencies([*stores, *loads(5)], changes)
    assert (clean, dirty) == (MISS + 100, MISS + 200)


def test_the_slowest_line_of_a_load_says_when_it_is_there():
    """Lanes at 32 lines of which one hits: the others come one by one, two of 32 bytes a cycle apart."""
    text = """
.buffer x u32 4096
    MOV R0, c[x]
    LDG R2, [R0]
    IADD R3, R2, 1
    S2R R1, LANEID
    SHL R1, R1, 7
    IADD R1, R1, R0
    LDG R2, [R1]
    IADD R3, R2, 1
    EXIT
"""
    run = run_text(text, TAGS | {"l1.misses": 64})
    issued, served = ({pc: cycle for cycle, _, pc in cycles_of(run, kind)} for kind in ("issue", "serve"))
    assert issued[7] - served[6] == MISS + 30  # 31 lines through the channels, a cycle each


def test_where_everything_hits_the_l1_it_is_as_if_that_had_been_said():
    """Behind a first round that brings its lines, a loop takes what it takes with `hits = l1`, cycle by cycle."""
    text = """
.block 64
.buffer x u32 4096
    S2R R0, TID.X
    SHL R0, R0, 3
    IADD R0, R0, c[x]
again:
    LDG.64 R2, [R0]
    LDG.64 R4, [R0+512]
    IADD R6, R2, R4
    IADD R1, R1, 1
    ISETP.LT P0, R1, 20
    @P0 BRA again
    EXIT
"""

    def rounds(hits):
        changes = TAGS | {"cache.hits": hits, "cache.l1_late": 3, "l1.bytes": 8192}
        run = run_text(text, changes)
        return [cycle for cycle, warp, pc in cycles_of(run) if (warp, pc) == (0, 3)]

    tags, said = (np.diff(rounds(hits)[3:]).tolist() for hits in ("tags", "l1"))
    assert tags == said


@pytest.mark.parametrize("feed", ["execution-driven", "address-only"])
def test_texture_fetches_have_a_cache_of_their_own(feed):
    """A fetch that misses comes from behind the L2, one that hits in 50 cycles; the L1 does not know of it."""
    sections = {"bytes": 1024, "sector_bytes": 32, "ways": 2, "latency": 50}
    text = """
.buffer x u32 64
    S2R R0, LANEID
    MOV R4, c[x]
    TEX R0, tex[x], R0
    IADD R2, R0, 1
    S2R R0, LANEID
    TEX R1, tex[x], R0
    IADD R2, R1, 1
    LDG R1, [R4]
    IADD R2, R1, 1
    EXIT
"""
    machine = plain_machine(TAGS | {f"texture_cache.{key}": value for key, value in sections.items()})
    issued = {pc: cycle for cycle, _, pc in cycles_of(run_sm(read(text), machine, feed=feed, trace=True))}
    assert [issued[pc + 1] - issued[pc] for pc in (2, 5, 7)] == [4 + 4 + 300, 50, FAR + 1]


@pytest.mark.parametrize("feed", ["execution-driven", "address-only"])
@pytest.mark.parametrize(("byte", "words", "cycles"), [(0, 1, 302), (0, 16, 304), (120, 4, 302), (128, 1, 60)])
def test_scalar_loads_have_a_cache_of_their_own(byte, words, cycles, feed):
    """Of a cache that holds 32 bytes from 128 on, 60 cycles for a hit, and else those of the missed sectors."""
    sections = {"bytes": 1024, "sector_bytes": 32, "ways": 2, "latency": 60}
    text = f"""
.buffer x u32 64
    S_MOV_B32 s0, c[x]
    S_LOAD_DWORD s1, s0, 128
    S_ADD_U32 s2, s1, s1
    S_LOAD_DWORD{f"X{words} s[4:{3 + words}]" if words > 1 else " s4"}, s0, {byte}
    S_ADD_U32 s2, s4, s4
    S_ENDPGM
"""
    changes = TAGS | SCALAR_FILE | {f"scalar_cache.{key}": value for key, value in sections.items()}
    issued = {
        pc: cycle for cycle, _, pc in cycles_of(run_sm(read(text), plain_machine(changes), feed=feed, trace=True))
    }
    assert [issued[pc + 1] - issued[pc] for pc in (1, 3)] == [MISS, cycles]


def test_a_scalar_load_that_hits_the_l2_has_its_own_latency():
    """77 cycles of the unit class for what a vector load has brought to the L2, not the vector load's 100."""
    sections = {"bytes": 1024, "sector_bytes": 32, "ways": 2, "latency": 60}
    text = """
.buffer x u32 64
    S_MOV_B32 s0, c[x]
    V_MOV_B32 v0, c[x]
    GLOBAL_LOAD_DWORD v1, v0, off
    V_ADD_U32 v2, v1, v1
    S_LOAD_DWORD s1, s0, 0
    S_ADD_U32 s2, s1, s1
    S_ENDPGM
"""
    changes = TAGS | SCALAR_FILE | {"unit.smem.latency": 77}
    changes |= {f"scalar_cache.{key}": value for key, value in sections.items()}
    issued = {pc: cycle for cycle, _, pc in cycles_of(run_text(text, changes))}
    assert issued[5] - issued[4] == 1 + 77


def test_both_halves_of_a_wave_ask_once():
    """A wave of 64 lanes reads its scalars once: a load behind its own takes a channel of 100 cycles no longer."""
    sections = {"bytes": 1024, "sector_bytes": 32, "ways": 2, "latency": 60}
    text = """
.warp 64
.buffer x u32 64
    S_MOV_B32 s0, c[x]
    S_LOAD_DWORD s1, s0, 0
    S_ADD_U32 s2, s1, s1
    S_ENDPGM
"""
    changes = TAGS | SCALAR_FILE | {"limits.warp_size": 64, "chip.dram_mbs": 320}
    run = run_text(text, changes | {f"scalar_cache.{key}": value for key, value in sections.items()})
    issued = {pc: cycle for cycle, _, pc in cycles_of(run)}
    assert issued[2] - issued[1] == 1 + 100 + 300 + 1  # a slot every second cycle


@pytest.mark.parametrize("queue", [1, 8])
def test_a_load_asks_for_the_lines_that_it_had_at_issue(queue):
    """Where its address register is overwritten before it is served, its value is the new, its time that of the old."""
    text = """
.shared 4096
.buffer x u32 4096
[B------:R-:W-:-:S15] MOV R0, c[x]
[B------:R-:W-:-:S15] S2R R1, LANEID
[B------:R-:W-:-:S15] NOP
[B------:R-:W0:-:S15] LDG R2, [R0]
[B0-----:R-:W-:-:S15] SHL R1, R1, 7
[B------:R-:W-:-:S15] NOP
[B------:R-:W1:-:S01] LDS R3, [R1]
[B------:R-:W0:-:S01] LDG R2, [R0]
[B------:R-:W-:-:S15] IADD R0, R0, 1024
[B0-----:R-:W-:-:S15] IADD R4, R2, 1
[B------:R-:W-:-:S01] EXIT
"""
    codes = {"dependence.rule": "codes", "dependence.yield_stall": 0, "dependence.variable": "none"}
    run = run_text(text, TAGS | codes | {"load_store.queue": queue, "unit.int.latency": 4})
    issued, served = ({pc: cycle for cycle, _, pc in cycles_of(run, kind)} for kind in ("issue", "serve"))
    assert served[7] > issued[8] + 4
    assert issued[9] - served[7] == HIT


# The same L2 of four lines, a part of it near the SM that holds two: a hit beyond that takes 40 cycles more.
PARTITION = {
    "l2_partition.bytes": 256,
    "l2_partition.sector_bytes": 32,
    "l2_partition.ways": 2,
    "l2_partition.late": 40,
}


def test_a_part_of_the_l2_is_near():
    """With loads that pass the L1: what the part near the SM has made room for takes 40 cycles more, once."""
    changes = PARTITION | {"l1.global_loads": 0}
    assert latencies(loads(0, 0, 1, 0, 2, 0, 1), changes) == [MISS, FAR + 1, MISS, FAR + 1, MISS, FAR + 1, FAR + 41]


def test_a_stored_line_is_not_near():
    """A store passes the part near the SM: the first load of what was stored has 40 cycles more, the next has not."""
    changes = PARTITION | {"l1.global_loads": 0}
    assert latencies(["STG [R0], R1", *loads(0, 0)], changes) == [FAR + 41, FAR + 1]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("sms", "later"), [(2, 40), (4, 0)])
def test_parts_are_near_to_as_many_sms(engine, sms, later):
    """Of two SMs each is near a part of its own, of four the first two near one: there the second finds the line."""
    text = f"""
.grid {sms}
.buffer x u32 64
    MOV R1, c[x]
    S2R R0, CTAID.X
    ISETP.EQ P0, R0, 0
    @P0 LDG R3, [R1]
    MUFU.RCP R2, R0
    IADD R3, R2, 1
    LDG R3, [R1]
    IADD R4, R3, 1
    EXIT
"""
    changes = TAGS | PARTITION | {"chip.sms": sms, "unit.sfu.latency": 2000, "l1.global_loads": 0}
    second = run_chip(read(text), plain_machine(changes), engine=engine, trace=True).each[1]
    issued, served = ({pc: cycle for cycle, _, pc in cycles_of(second, kind)} for kind in ("issue", "serve"))
    assert issued[7] - served[6] == FAR + 1 + later


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("shift", "later"), [(0, 0), (7, 100)])
def test_all_sms_share_the_tags_of_the_l2(engine, shift, later):
    """Two SMs load at once: the second waits for the line that the first has asked for, or for one of its own."""
    text = f"""
.grid 2
.buffer x u32 64
    S2R R0, CTAID.X
    IMUL R0, R0, {1 << shift if shift else 0}
    IADD R0, R0, c[x]
    LDG R2, [R0]
    IADD R3, R2, 1
    EXIT
"""
    machine = plain_machine(TAGS | {"chip.sms": 2, "chip.dram_mbs": 320})  # 32 bytes in 100 cycles
    each = run_chip(read(text), machine, engine=engine, trace=True).each
    first, second = ({pc: cycle for cycle, _, pc in cycles_of(run)}[4] for run in each)
    assert second - first == later


@pytest.mark.parametrize("name", [name for name in names() if load(name).l1])
def test_every_machine_with_caches_runs_with_tags(name):
    """The first load of a line takes longer than the second, on each machine as it is shipped."""
    machine = load(name, {"cache.hits": "tags"})
    load_and_wait = "LDG R2, [R0]\nS_WAITCNT 0, 0\nIADD R3, R2, R2\n"
    start = f".warp {machine.limits.warp_size}\n.buffer x u32 64\nMOV R0, c[x]\n"
    once, twice = (run_sm(read(start + n * load_and_wait + "EXIT"), machine).cycles for n in (1, 2))
    assert machine.global_memory.latency < once < twice < once + machine.global_memory.latency


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"l1.sector_bytes": 48}, "sectors of 48 bytes; take 32 or more that divide a line of 128"),
        ({"l2.sector_bytes": 256}, "sectors of 256 bytes"),
        ({"l2.bytes": 1000}, "1000 bytes are no whole sets of 16 lines of 128 bytes; take a multiple of 2048"),
        (PARTITION | {"l2_partition.bytes": 5 << 17}, "partitions of 655360 bytes, of an L2 of 786432 bytes"),
    ],
)
def test_a_cache_that_is_no_whole_number_of_its_parts_is_refused(changes, message):
    """Sectors divide lines, and lines sets; the place of the number is named."""
    with pytest.raises(UserError, match=message):
        load("gtx580", changes)


def test_a_machine_without_caches_keeps_no_tags():
    """`hits = tags` needs a cache; the machine may have one of the two."""
    machine = plain_machine(TAGS)
    assert msgspec.structs.replace(machine, l1=None).l2
    with pytest.raises(UserError, match=r"cache\.l1_latency_32 is missing"):
        load("gt200", {"cache.hits": "tags"})
