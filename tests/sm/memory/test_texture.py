"""Texture fetches: the sectors that they move through the memory channel, and what moves nothing."""

from __future__ import annotations

import pytest
from msgspec import structs
from timing import cycles_of, plain_machine, run_text
from twins import differences

from gpusim.bounds.bounds import bound
from gpusim.engines import compiled
from gpusim.engines.simulate import ENGINES, run_chip, run_sm
from gpusim.launch.feed import FEEDS
from gpusim.launch.launch import launch
from gpusim.sm.state.recurrence import recurrence
from gpusim.sm.unit.capacities import NEVER
from isa.text.listing import read

# 8 bytes per cycle: a sector of 32 bytes takes 4 cycles, a line 16.
SLOW = {"chip.dram_mbs": 8000, "chip.shader_mhz": 1000, "texture.latency": 100, "global_memory.latency": 100}
CACHE = {f"cache.{level}_latency_{width}": 50 for level in ("l1", "l2") for width in (32, 64, 128)} | {
    "cache.l1_late": 0,
    "cache.l2_late": 0,
    "cache.l2_sector_parts": 128,
}


def fetched(fetch, changes=None, shift=0, feed="execution-driven"):
    """Cycles from the issue of a fetch by lane index << shift, R0, until an instruction that needs it may issue."""
    text = f".buffer x u32 4096\nS2R R0, LANEID\nSHL R0, R0, {shift}\n{fetch}\nIADD R8, R4, 1\nEXIT"
    run = run_sm(read(text), plain_machine({**SLOW, **(changes or {})}), feed=feed, trace=True)
    issued = {pc: cycle for cycle, _, pc in cycles_of(run)}
    return issued[3] - issued[2]


@pytest.mark.parametrize("rule", ["fermi", "sectors", "gt200"])
@pytest.mark.parametrize("feed", FEEDS)
@pytest.mark.parametrize(
    ("fetch", "shift", "sectors"),
    [
        ("TEX R4, tex[x], R0", 0, 4),
        ("TEX R4, tex[x], R1", 0, 1),
        ("TEX R4, tex[x], R0", 3, 32),
        ("TEX R4, tex[x], R0", 9, 9),
        ("TEX.64 R4, tex[x], R0", 0, 8),
        ("TEX.128 R4, tex[x], R0", 0, 16),
        ("TEX.2D R4, tex[x], R1, R0, 16", 0, 32),
        ("TEX.2D R4, tex[x], R0, R1, 16", 0, 2),
    ],
)
def test_lanes_share_the_sectors_of_their_elements(fetch, shift, sectors, feed, rule):
    """Distinct sectors of 32 bytes, 4 cycles each, move before the latency; clamped lanes fetch the last element."""
    changes = {"global_memory.rule": rule}
    assert fetched(fetch, changes, shift, feed) == 4 * sectors + 100


@pytest.mark.parametrize(("hits", "cycles"), [("none", 16), ("l1", 0), ("l2", 8)])
def test_what_a_cache_has_moves_nothing(hits, cycles):
    """Four sectors take 16 cycles from the DRAM, 8 from the L2 at 2 cycles each, none where they hit in the SM."""
    assert fetched("TEX R4, tex[x], R0", CACHE | {"cache.hits": hits}) == cycles + 100


def test_without_a_texture_cache_tags_of_the_l2_say_what_hits():
    """A first fetch comes from the DRAM, 2 + 4 cycles and 100 after it asked; a second one has its own latency."""
    l2 = {"l2.bytes": 8192, "l2.sector_bytes": 32, "l2.ways": 2}
    text = ".buffer x u32 64\n" + "TEX R4, tex[x], R1\nIADD R8, R4, 1\n" * 2 + "EXIT"
    made = plain_machine(SLOW | CACHE | l2 | {"cache.hits": "tags", "texture.latency": 60})
    run = run_sm(read(text), structs.replace(made, texture_cache=None, l1=None), trace=True)
    issued = {pc: cycle for cycle, _, pc in cycles_of(run)}
    assert [issued[pc + 1] - issued[pc] for pc in (0, 2)] == [2 + 4 + 100, 60]


def test_loads_and_fetches_share_the_channel():
    """A load's line and a fetch's sector follow each other, in the order in which they are asked for."""
    text = """
.buffer x u32 64
    MOV R1, c[x]
    LDG R4, [R1]
    TEX R5, tex[x], R2
    IADD R8, R5, 1
    EXIT
"""
    issued = {pc: cycle for cycle, _, pc in cycles_of(run_text(text, SLOW))}
    assert issued[3] == issued[1] + 16 + 4 + 100


WIDE = """
.grid {blocks}
.block 64
.buffer x u32 {words}
    S2R R0, TID.X
    S2R R1, CTAID.X
    IMAD R0, R1, 64, R0
again:
    TEX R4, tex[x], R0
    IADD R5, R4, R5
    IADD R6, R6, 1
    ISETP.LT P0, R6, 20
    @P0 BRA again
    EXIT
"""


@pytest.mark.jit
@pytest.mark.parametrize("engine", ENGINES)
def test_all_feeds_and_engines_take_the_same_cycles(engine):
    """A loop of fetches takes as long computed as recorded."""
    kernel, machine = read(WIDE.format(blocks=3, words=192)), plain_machine(SLOW)
    run, other = (run_sm(kernel, machine, feed=feed, engine=engine) for feed in ("address-only", "trace-driven"))
    assert differences(run, other) == []


@pytest.mark.jit
@pytest.mark.parametrize(("words", "alike"), [(64 * 40, True), (64 * 39 + 8, False)])
def test_blocks_that_fetch_inside_the_texture_take_one_script(words, alike):
    """Forty blocks, whole sectors apart, are one script; if the last one's coordinates are clamped it has its own."""
    kernel, machine = read(WIDE.format(blocks=40, words=words)), plain_machine(SLOW)
    runs = [run_sm(kernel, machine, feed=feed) for feed in ("address-only", "trace-driven")]
    assert differences(*runs) == []
    started = launch(kernel, machine, feed="trace-driven")
    roles = recurrence(started.sms, started.sizes)
    compiled.run(started.sms, started.memory, roles, NEVER, NEVER)
    assert started.sm.scripted == 2 - alike


@pytest.mark.jit
def test_steady_fetches_are_skipped():
    """Fast-forward jumps over rounds of a loop that only fetches, and ends at the same cycle with the same counts."""
    kernel, machine = read(WIDE.format(blocks=8, words=512).replace("R6, 20", "R6, 2000")), plain_machine(SLOW)
    fast, slow = (run_sm(kernel, machine, feed="trace-driven", fast_forward=on) for on in (True, False))
    assert differences(fast, slow) == []
    assert fast.skipped > slow.cycles // 2


@pytest.mark.jit
def test_fetches_take_the_whole_bandwidth_and_no_more():
    """Where sectors are scarce the bound is the bandwidth, and the simulation is 2 % above it or less."""
    kernel, machine = read(WIDE.format(blocks=8, words=512)), plain_machine(SLOW)
    found, cycles = bound(kernel, machine), run_sm(kernel, machine, feed="trace-driven").cycles
    assert found.limiter == "memory bandwidth"
    assert found.limits["memory bandwidth"] == 8 * 2 * 20 * 4 * 4
    assert found.cycles <= cycles <= 1.1 * found.cycles


@pytest.mark.jit
def test_clamped_blocks_count_as_they_are():
    """The bound counts the fewer sectors of blocks whose coordinates are clamped: here one of 64 threads' eight."""
    kernel, machine = read(WIDE.format(blocks=4, words=64)), plain_machine(SLOW)
    limits = bound(kernel, machine).limits
    assert limits["memory bandwidth"] == 20 * 4 * (8 + 3 * 2)
    assert bound(kernel, machine).cycles <= run_sm(kernel, machine, feed="trace-driven").cycles


@pytest.mark.jit
@pytest.mark.parametrize("engine", ENGINES)
def test_all_sms_share_the_channel(engine):
    """Two SMs that fetch as much as one, at the bandwidth of one each, take as long; at half of it twice as long."""
    kernel = read(WIDE.format(blocks=16, words=1024))
    one = run_sm(read(WIDE.format(blocks=8, words=512)), plain_machine(SLOW)).cycles
    both = run_chip(kernel, plain_machine(SLOW | {"chip.sms": 2, "chip.dram_mbs": 16000}), engine=engine).cycles
    half = run_chip(kernel, plain_machine(SLOW | {"chip.sms": 2}), engine=engine).cycles
    assert both == pytest.approx(one, rel=0.02)
    assert half == pytest.approx(2 * one, rel=0.05)
