"""Caches that keep tags: hits, replacement, what moves, and when it arrives."""

import msgspec
import numpy as np
import pytest
from tagged_caches import FAR, HIT, MISS, SCALAR_FILE, TAGS, latencies, loads
from timing import cycles_of, plain_machine, run_text

from gpusim.engines.simulate import ENGINES, run_chip, run_sm
from gpusim.launch.feed import FEEDS
from gpusim.machine.machine import load, names
from gpusim.sm.account.record.declaration import TRACE_KINDS
from gpusim.sm.memory.cache import tags
from gpusim.sm.memory.cache.declaration import memory_latency
from isa.errors import UserError
from isa.text.listing import read


def test_the_line_used_longest_ago_makes_room():
    """Loads of A B A C A B A in a set of two: C replaces B, then B replaces C, and A stays; the L2 holds all three."""
    assert latencies(loads(0, 1, 0, 2, 0, 1, 0)) == [MISS, MISS, HIT, MISS, HIT, FAR + 1, HIT]


def test_the_line_that_came_first_makes_room():
    """Of the same loads, C replaces A by `fifo` though A was used since, A replaces B, and B replaces C."""
    changes = {"l1.replacement": "fifo"}
    assert latencies(loads(0, 1, 0, 2, 0, 1, 0), changes) == [MISS, MISS, HIT, MISS, FAR + 1, FAR + 1, HIT]


def test_any_line_makes_room():
    """Five lines in turn in a set of four, ten rounds: none hits again by `lru`, a part by `random`."""
    rounds = loads(*(10 * tuple(range(5))))
    changes = {"l1.bytes": 512, "l1.ways": 4, "l2.bytes": 1024, "l2.ways": 8}
    assert latencies(rounds, changes).count(HIT) == 0
    assert latencies(rounds, changes | {"l1.replacement": "fifo"}).count(HIT) == 0
    found = latencies(rounds, changes | {"l1.replacement": "random"})
    assert found[:5] == [MISS] * 5
    assert 10 < found.count(HIT) < 40


@pytest.mark.parametrize("ways", [2, 4, 16])
def test_drawn_ways_are_evenly_spread(ways):
    """Of 6,400 uses in turn, in any of three sets, each way is drawn as often as others, within four deviations."""
    for place in (1, 15, 15_001):
        counts = np.bincount([tags._drawn(uses, place, ways) for uses in range(6400)], minlength=ways)
        assert abs(counts - 6400 / ways).max() < 4 * (6400 / ways) ** 0.5


@pytest.mark.parametrize(("sms", "most"), [(1, 128), (4, 36)])
def test_an_sm_that_stands_for_all_brings_its_part(sms, most):
    """Each block reads all 128 sectors of a buffer: one SM brings them, one of four a quarter, and a line at most."""
    text = ".grid 8\n.buffer a f32 1024\nS2R R0, TID.X\nSHL R0, R0, 2\nIADD R0, R0, c[a]\n"
    text += "".join(f"LDG R{2 + i}, [R0+{128 * i}]\n" for i in range(32)) + "EXIT"
    machine = load("rtx2080ti", {"chip.sms": sms, "cache.hits": "tags"})
    assert machine.l2_channel is None
    read_by_one = run_sm(read(text), machine).sectors["read"]
    assert most - 4 <= read_by_one <= most


def test_a_line_has_a_set_of_its_own():
    """In an L1 of four sets of two lines, lines 0, 4 and 8 share a set, and line 8 replaces line 0."""
    found = latencies(loads(0, 4, 1, 8, 1, 4, 0), {"l1.bytes": 1024, "l2.bytes": 4096})
    assert found == [MISS, MISS, MISS, MISS, HIT, HIT, FAR + 1]


def test_hashed_sets_get_lines_at_equal_distances():
    """Of four sets those of lines 0, 4, 8 and 12 are 0, 1, 2 and 3, the sums of their digits in base 4."""
    changes = {"l1.bytes": 512, "l1.ways": 1, "l1.hashed": 1, "l2.bytes": 4096}
    assert latencies(loads(0, 4, 8, 12, 0, 4, 8, 12), changes)[4:] == [HIT] * 4
    assert latencies(loads(0, 4, 0, 1, 4), changes | {"l1.hashed": 0})[2:] == [FAR + 1, MISS, FAR + 1]
    assert latencies(loads(4, 1, 4), changes) == [MISS, MISS, FAR + 1]
    one_set = {"l1.bytes": 256, "l1.ways": 2, "l1.hashed": 1, "l2.bytes": 4096}
    assert latencies(loads(0, 4, 0), one_set) == [MISS, MISS, HIT]


@pytest.mark.parametrize(("sector", "second"), [(32, MISS), (64, HIT), (128, HIT)])
def test_a_miss_brings_a_sector(sector, second):
    """The next 32 bytes hit only if they are in the same sector; a larger sector takes the channels longer."""
    changes = {"l1.sector_bytes": sector, "l2.sector_bytes": 32}
    first, *rest = latencies(["LDG R2, [R0]", "LDG R2, [R0+32]", "LDG R2, [R0]"], changes)
    assert first == MISS + 2 * (sector // 32 - 1)
    assert rest == [second, HIT]


def test_the_l2_brings_sectors_of_its_own():
    """The L1 asks for 32 bytes and the L2 brings 64: the next 32 bytes hit in the L2."""
    found = latencies(["LDG R2, [R0]", "LDG R2, [R0+32]", "LDG R2, [R0+64]"], {"l2.sector_bytes": 64})
    assert found == [MISS + 2, FAR + 1, MISS + 2]


def test_loads_that_pass_the_l1_hit_the_l2():
    """With `global_loads` 0 no load hits the L1, whatever was loaded before."""
    assert latencies(loads(0, 0, 0), {"l1.global_loads": 0}) == [MISS, FAR + 1, FAR + 1]


def test_loads_of_a_scope_beyond_the_sm_hit_no_l1():
    """They come from the L2 though the L1 holds their line; another load finds in the L1 what they brought."""
    anew = "LDG.STRONG.GPU R2, [R0]"
    assert latencies([*loads(0), anew, anew, *loads(0)]) == [MISS, FAR + 1, FAR + 1, HIT]
    assert latencies([anew, *loads(0)]) == [MISS, HIT]


@pytest.mark.parametrize(("rule", "again"), [("evict", FAR + 1), ("update", HIT)])
def test_a_global_store_goes_through_the_l1(rule, again):
    """A store drops the line of a Fermi's L1, keeps that of a later L1, and brings none; the L2 keeps the line."""
    accesses = [*loads(0), "STG [R0], R1", *loads(0), "STG [R0+128], R1", *loads(1)]
    assert latencies(accesses, {"l1.global_stores": rule}) == [MISS, again, FAR + 1]


@pytest.mark.parametrize(("rule", "again"), [("back", HIT), ("copied", HIT), ("through", FAR + 3)])
def test_a_local_store_stays_in_a_write_back_l1(rule, again):
    """A warp's word takes one line of 128 bytes: a load finds it in the L1, or (`through`) four sectors in the L2."""
    assert latencies(["STL [RZ], R1", "LDL R2, [RZ]"], {"l1.local_stores": rule}, local=4) == [again]


def test_a_stored_line_is_written_back_when_it_makes_room():
    """If all four lines of the L2 are stored to, a load of a fifth waits for the write-back of 32 bytes: 100 cycles."""
    changes = {"chip.dram_mbs": 320}  # 32 bytes in 100 cycles
    stores = [f"STG [R0+{128 * line}], R1" for line in range(4)]
    (clean,) = latencies([*stores[:3], *loads(5)], changes)
    (dirty,) = latencies([*stores, *loads(5)], changes)
    assert (clean, dirty) == (MISS + 100, MISS + 200)


def test_a_load_is_complete_with_its_slowest_line():
    """Of 32 lines of a load one hits; the other 31 arrive a cycle apart, and the last one completes the load."""
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


def test_a_loop_that_always_hits_the_l1_takes_the_cycles_of_hits_l1():
    """After its first rounds, which bring its lines, a loop takes the same cycles with tags as with `hits = l1`."""
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
    """A texture fetch that misses comes from DRAM, a hit takes 50 cycles, and neither brings the line to the L1."""
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


@pytest.mark.parametrize("feed", FEEDS)
@pytest.mark.parametrize(("byte", "words", "cycles"), [(0, 1, 302), (0, 16, 304), (120, 4, 302), (128, 1, 60)])
def test_scalar_loads_have_a_cache_of_their_own(byte, words, cycles, feed):
    """With the 32 bytes from byte 128 on in the cache, a hit takes 60 cycles, and a miss the cycles of its sectors."""
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
    """A scalar load that hits a line of a vector load in the L2 takes its own 77 cycles, not the vector load's 100."""
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
    """A scalar load of a wave of 64 lanes takes the channel once, for 100 cycles, not once for each half."""
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


# The same L2 of four lines, with a partition of two lines near the SM: a hit outside it takes 40 cycles more.
PARTITION = {
    "l2_partition.bytes": 256,
    "l2_partition.sector_bytes": 32,
    "l2_partition.ways": 2,
    "l2_partition.late": 40,
}


def test_a_hit_outside_the_near_partition_takes_longer():
    """A load that bypasses the L1 takes 40 cycles more for a line that the near partition has replaced."""
    changes = PARTITION | {"l1.global_loads": 0}
    assert latencies(loads(0, 0, 1, 0, 2, 0, 1), changes) == [MISS, FAR + 1, MISS, FAR + 1, MISS, FAR + 1, FAR + 41]


def test_a_stored_line_is_not_near():
    """A store bypasses the near partition: the first load of its line takes 40 cycles more, the next does not."""
    changes = PARTITION | {"l1.global_loads": 0}
    assert latencies(["STG [R0], R1", *loads(0, 0)], changes) == [FAR + 41, FAR + 1]


FILLED = {"l2.filled": 1, "l1.global_loads": 0}
THERE = FAR + 1  # of a load that bypasses the L1


def test_a_filled_l2_holds_the_last_lines_of_the_buffers():
    """Of 128 lines an L2 of four holds the last four; of those not used since, the lowest makes room first."""
    assert latencies(loads(124, 125, 0, 126), FILLED) == [THERE, THERE, MISS, MISS]
    assert latencies(loads(124, 0, 127, 124), FILLED) == [THERE, MISS, THERE, THERE]


def test_a_filled_l2_of_several_sets():
    """In two sets of two ways, each holds the last two lines of its own."""
    assert latencies(loads(124, 127, 123, 122), FILLED | {"l2.ways": 2}) == [THERE, THERE, MISS, MISS]


def test_a_filled_partition():
    """A near partition of two lines holds the last two of the four; the others take 40 cycles more."""
    assert latencies(loads(127, 125, 125, 126), FILLED | PARTITION) == [THERE, THERE + 40, THERE, THERE + 40]


def test_a_filled_l2_needs_tags():
    """Where no tags are kept, nothing is filled."""
    assert latencies(loads(127), FILLED | {"cache.hits": "none"}) == latencies(loads(127), {"cache.hits": "none"})


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("sms", "later"), [(2, 40), (4, 0)])
def test_neighbouring_sms_share_a_partition(engine, sms, later):
    """Each of two SMs has its own partition; the first two of four share one, where SM 1 finds SM 0's line."""
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
    """Two SMs load at once: SM 1 gets SM 0's line at the same time, and a line of its own 100 cycles later."""
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
    """On each machine with an L1, as shipped, the first load of a line takes longer than the second."""
    machine = load(name, {"cache.hits": "tags"})
    load_and_wait = "LDG R2, [R0]\nS_WAITCNT 0, 0\nIADD R3, R2, R2\n"
    start = f".warp {machine.limits.warp_size}\n.buffer x u32 64\nMOV R0, c[x]\n"
    once, twice = (run_sm(read(start + n * load_and_wait + "EXIT"), machine).cycles for n in (1, 2))
    latency = memory_latency(machine)
    least = latency - (machine.dram.varies if machine.dram else 0)  # this place may be early
    assert least < once < twice < once + latency


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
    """Sectors must divide lines, sets must divide caches, and partitions the L2; the message has the wrong number."""
    with pytest.raises(UserError, match=message):
        load("gtx580", changes)


def test_a_machine_without_caches_keeps_no_tags():
    """`hits = tags` is refused for a machine without caches; a machine may have an L2 and no L1."""
    machine = plain_machine(TAGS)
    assert msgspec.structs.replace(machine, l1=None).l2
    with pytest.raises(UserError, match=r"cache\.l1_latency_32 is missing"):
        load("gt200", {"cache.hits": "tags"})


@pytest.mark.parametrize(
    ("load_", "stride", "cycles"),
    [("LDG", 4, 1), ("LDG", 0, 1), ("LDG", 8, 2), ("LDG", 128, 32), ("LDG", 132, 8), ("LDG.64", 8, 2)],
)
def test_an_l1_of_banks_looks_up_four_lines_in_a_cycle(load_, stride, cycles):
    """A load takes a cycle for four lines, or for each word that its fullest bank delivers: 32 words 128 bytes apart.

    Words 132 bytes apart lie in banks and lines of their own. 64-bit loads go by 16 lanes.
    """
    text = f".buffer x u32 4096\nS2R R0, LANEID\nIMUL R0, R0, {stride}\nIADD R0, R0, c[x]\n{load_} R2, [R0]\nEXIT"
    banks = {"l1.lines_per_cycle": 4, "shared_memory.banks": 32, "global_memory.rule": "sectors"}
    (service,) = [r for r in run_text(text, TAGS | banks).trace if TRACE_KINDS[r.kind] == "serve"]
    assert int(service.detail) == cycles


@pytest.mark.parametrize(
    ("load_", "stride", "cycles"), [("LDG", 4, 2), ("LDG", 0, 2), ("LDG", 8, 2), ("LDG", 16, 4), ("LDG.64", 8, 4)]
)
def test_an_l1_may_deliver_32_words_in_two_cycles(load_, stride, cycles):
    """Loads of 32 words take two cycles or as many as their fullest bank, those of 64 words twice two (an A40's)."""
    text = f".buffer x u32 4096\nS2R R0, LANEID\nIMUL R0, R0, {stride}\nIADD R0, R0, c[x]\n{load_} R2, [R0]\nEXIT"
    banks = {"l1.lines_per_cycle": 4, "shared_memory.banks": 32, "global_memory.rule": "sectors", "l1.least_cycles": 2}
    (service,) = [r for r in run_text(text, TAGS | banks).trace if TRACE_KINDS[r.kind] == "serve"]
    assert int(service.detail) == cycles
