"""Ways between SMs and the L2: slices, scattered stores, stores that stay in the SM, and the L2 that SMs share."""

import pytest
from test_cache import FAR, TAGS, latencies, loads
from timing import cycles_of, plain_machine, run_text

from gpusim.engines.simulate import run_chip, run_sm
from gpusim.machine.machine import load
from gpusim.sm.memory.l2_channel.declaration import sector_shares
from isa.errors import UserError
from isa.text.listing import read

# Stores take 10 cycles for 32 bytes, loads one; the L2 has room for all that SMs may want, and none is far away.
CHANNEL = {
    "l2_channel.store_parts": 640,
    "l2_channel.store_line_parts": 0,
    "l2_channel.store_buffer": 0,
    "l2_channel.spread": 0,
    "l2_channel.load_bytes": 1_000_000,
    "l2_channel.store_bytes": 1_000_000,
}
FILLED = {"l2.filled": 1, "l2.bytes": 32768}  # each load misses the L1 and hits the L2


def served(text, changes=None):
    """Return the cycles at which the accesses of a listing are served, from the first one on."""
    cycles = [cycle for cycle, _, _ in cycles_of(run_text(text, TAGS | CHANNEL | (changes or {})), "serve")]
    return [cycle - cycles[0] for cycle in cycles]


def test_slices_are_near_or_far():
    """Of two neighbouring lines one lies in a near slice, 10 cycles sooner than the mean, the other in a far one."""
    near_and_far = latencies(loads(0, 1), TAGS | FILLED | CHANNEL | {"l2_channel.spread": 10})
    assert sorted(near_and_far) == [FAR - 10 + 1, FAR + 10 + 1]  # issues at even cycles


def test_a_line_has_the_parity_of_bits_of_its_number():
    """Lines 0 to 3 of 512 aligned bytes alternate but for the second half: bits 0 and 1 of a line's number count."""
    found = [cycles > FAR for cycles in latencies(loads(0, 1, 2, 3), FILLED | CHANNEL | {"l2_channel.spread": 10})]
    assert found[0] == found[3] != found[1] == found[2]


@pytest.mark.parametrize(
    ("guard", "stride", "lines", "sectors"),
    [("", 4, 1, 4), ("", 32, 8, 32), ("", 128, 32, 32), ("@P0 ", 4, 1, 1), ("@P1 ", 4, 1, 1)],
)
def test_a_store_to_parts_of_sectors_takes_its_way_longer_for_each_line(guard, stride, lines, sectors):
    """Lanes store words: 10 cycles for each sector, and 5 for each line if they don't fill them.

    All 32 lanes do so, but for the last cases: one lane, and the eight of a sector.
    """
    text = f"""
.buffer x u32 4096
    S2R R0, LANEID
    ISETP.LT P0, R0, 1
    ISETP.LT P1, R0, 8
    IMUL R0, R0, {stride}
    IADD R0, R0, c[x]
    {guard}STG [R0], R1
    LDG R2, [R0]
    EXIT
"""
    scattered = 5 * lines if sectors > 4 or guard == "@P0 " else 0
    changes = {"l2_channel.store_line_parts": 320, "global_memory.rule": "sectors"}
    assert served(text, changes) == [0, 10 * sectors + scattered]


@pytest.mark.parametrize(("least", "cycles"), [(0, [1, 2, 4, 8]), (64, [2, 2, 4, 8]), (112, [4, 4, 4, 8])])
def test_a_line_takes_the_l2_at_least_so_long(least, cycles):
    """Loads of 1, 2 and 4 sectors of a line, and of two lines, from an L2 that moves 32 bytes in a cycle.

    It takes as long for a line as for so many bytes, 3.5 cycles for 112.
    """
    for sectors, taken in zip((1, 2, 4, 8), cycles, strict=True):
        text = f".buffer x u32 4096\nS2R R0, LANEID\nISETP.LT P0, R0, {sectors}\n"
        text += "SHL R0, R0, 5\nIADD R0, R0, c[x]\n@P0 LDG R2, [R0]\nIADD R2, R2, 1\nEXIT"
        changes = {"l2_channel.load_least_bytes": least, "l2_channel.load_bytes": 32, "global_memory.rule": "sectors"}
        run = run_text(text, TAGS | FILLED | CHANNEL | changes)
        ((at, _, _),) = cycles_of(run, "serve")
        issued, ready = next(cycle for cycle, _, pc in cycles_of(run) if pc == 5), at + FAR - 1 + taken
        assert issued == ready + ready % 2  # it issues every 2 cycles


@pytest.mark.parametrize(("stride", "cycles"), [(4, 4), (32, 32), (64, 40), (128, 80)])
def test_a_line_takes_the_way_of_loads_at_least_so_long(stride, cycles):
    """4 sectors of one line or of each of 8, 2 of 16 lines, one of 32: a cycle for each sector, 2.5 a line at least."""
    text = f".buffer x u32 4096\nS2R R0, LANEID\nIMUL R0, R0, {stride}\nIADD R0, R0, c[x]\nLDG R2, [R0]\n"
    changes = {"l2_channel.load_line_parts": 160, "global_memory.rule": "sectors", "l1.misses": 64}
    run = run_text(text + "IADD R2, R2, 1\nEXIT", TAGS | FILLED | CHANNEL | changes)
    ((at, _, _),) = cycles_of(run, "serve")
    ready = at + FAR - 1 + cycles
    assert next(cycle for cycle, _, pc in cycles_of(run) if pc == 4) == ready + ready % 2  # it issues every 2 cycles


@pytest.mark.parametrize(
    ("lines", "wait", "apart", "cycles"),
    [
        (4, 100, 0, [0, 40, 44]),  # the second store joins the first, and the load is served behind its four lines
        (3, 100, 0, [0, 40, 80]),  # each line comes when three others have come since
        (4, 10, 0, [0, 40, 80]),  # the first store has gone, and waited long enough
        (4, 100, 32, [0, 40, 80]),  # the same lines, but other sectors
        (0, 100, 0, [0, 40, 80]),
    ],
)
def test_stores_join_the_last_lines_stored_to(lines, wait, apart, cycles):
    """Two stores to a sector of each of four lines: ten cycles for each sector, none where it waits since the first."""
    text = f"""
.buffer x u32 4096
    S2R R0, LANEID
    ISETP.LT P0, R0, 4
    IMUL R0, R0, 128
    IADD R0, R0, c[x]
    @P0 STG [R0], R1
    @P0 STG [R0+{apart}], R1
    LDG R2, [R0]
    EXIT
"""
    changes = {"l2_channel.store_lines": lines, "l2_channel.store_wait": wait, "global_memory.rule": "sectors"}
    assert served(text, changes) == cycles


def test_a_line_that_joins_takes_nothing_for_its_parts():
    """A word of each of four lines takes ten cycles and five for the line, once; the second store joins them."""
    text = """
.buffer x u32 4096
    S2R R0, LANEID
    ISETP.LT P0, R0, 4
    IMUL R0, R0, 128
    IADD R0, R0, c[x]
    @P0 STG [R0], R1
    @P0 STG [R0], R1
    LDG R2, [R0]
    EXIT
"""
    changes = {"l2_channel.store_lines": 4, "l2_channel.store_wait": 100, "l2_channel.store_line_parts": 320}
    assert served(text, changes | {"global_memory.rule": "sectors"}) == [0, 60, 64]


def test_local_stores_that_stay_in_the_l1_do_not_wait():
    """Two stores to local memory wait for the way to the L2, 40 cycles each, only if they go through to it."""
    text = ".local 8\nMOV R1, 0\nSTL [R1], R2\nSTL [R1+4], R2\nEXIT"
    assert served(text, {"l1.local_stores": "through"}) == [0, 40]
    assert served(text, {"l1.local_stores": "back"}) == [0, 6]


def test_an_sm_that_stands_for_all_has_its_share_of_the_l2():
    """Four SMs that all ask at once have the L2, which moves 32 bytes per cycle, for one in 4 cycles.

    The first load takes 4 cycles of it. The second asks 110 cycles later; until then the SM has asked for 8 cycles, and
    the others are taken to ask at other times: it takes 18 of 64 parts of a cycle, and of the SM's own way all of them.
    """
    body = "LDG R2, [R0]\nIADD R2, R2, 1\nLDG R2, [R0+128]\nIADD R2, R2, 1"
    text = f".grid 4\n.buffer x u32 4096\nMOV R0, c[x]\n{body}\nEXIT"
    four = {"chip.sms": 4, "chip.dram_mbs": 128000, "l2_channel.load_bytes": 32}
    run = run_text(text, TAGS | FILLED | CHANNEL | four)
    issued, served_at = ({pc: cycle for cycle, _, pc in cycles_of(run, kind)} for kind in ("issue", "serve"))
    assert [issued[pc + 1] - served_at[pc] for pc in (1, 3)] == [104, 102]


@pytest.mark.parametrize(("place", "answers", "cycles"), [("0", 16, 8), ("0", 64, 4), ("128", 64, 16), ("0", 0, 16)])
def test_the_l2_is_asked_once_for_what_neighbours_want(place, answers, cycles):
    """Four SMs of a GPC that load a sector each: the L2 moves it in 16 cycles of an SM's share.

    If all want the same, it costs each a quarter of it, and what the L2 sends to each takes its time at `answer_bytes`;
    if each has its own, or nothing is merged, it costs all of it.
    """
    text = f"""
.grid 4
.buffer x u32 4096
    S2R R1, CTAID.X
    IMUL R1, R1, {place}
    IADD R0, R1, c[x]
    LDG R2, [R0]
    IADD R2, R2, 1
    EXIT
"""
    four = {"chip.sms": 4, "chip.dram_mbs": 128000, "l2_channel.load_bytes": 8, "l2_channel.answer_bytes": answers}
    run = run_text(text, TAGS | FILLED | CHANNEL | four)
    issued, served_at = ({pc: cycle for cycle, _, pc in cycles_of(run, kind)} for kind in ("issue", "serve"))
    assert issued[4] - served_at[3] == 100 + cycles


@pytest.mark.parametrize(("stored", "least", "cycles"), [(4, 64, 18), (0, 64, 4), (4, 192, 22), (0, 192, 6)])
def test_the_l2_looks_for_lines_between_stores(stored, least, cycles):
    """An L2 moves a sector stored in 4 cycles, one loaded in one: a line waits for a store of 4 sectors before.

    It takes the stores' time for as long as so many bytes take that of loads: 2 or 6 cycles.
    """
    text = f"""
.buffer x u32 4096
    S2R R0, LANEID
    ISETP.LT P0, R0, {8 * stored}
    SHL R0, R0, 2
    IADD R0, R0, c[x]
    @P0 STG [R0], R1
    LDG R2, [R0+512]
    IADD R2, R2, 1
    EXIT
"""
    changes = {"l2_channel.store_parts": 64, "l2_channel.store_buffer": 192, "l2_channel.store_bytes": 8}
    changes |= {"l2_channel.load_bytes": 32, "l2_channel.load_least_bytes": least, "global_memory.rule": "sectors"}
    run = run_text(text, TAGS | FILLED | CHANNEL | changes)
    first, *_ = (cycle for cycle, _, _ in cycles_of(run, "serve"))
    ready = first + FAR - 1 + cycles
    assert next(cycle for cycle, _, pc in cycles_of(run) if pc == 6) == ready + ready % 2  # it issues every 2 cycles


def test_all_sms_wait_for_each_other_at_the_l2():
    """Two SMs that load 4 sectors each at once: the L2 moves a sector in a cycle, and the second SM waits 4 cycles."""
    text = """
.grid 2
.buffer x u32 4096
    S2R R0, LANEID
    SHL R0, R0, 2
    IADD R0, R0, c[x]
    LDG R2, [R0]
    IADD R2, R2, 1
    EXIT
"""
    two = {"chip.sms": 2, "chip.dram_mbs": 64000, "l2_channel.load_bytes": 32, "global_memory.rule": "sectors"}
    kernel = read(text)
    alone = run_sm(kernel, plain_machine(TAGS | FILLED | CHANNEL | two | {"chip.sms": 1}), blocks=1).cycles
    together = run_chip(kernel, plain_machine(TAGS | FILLED | CHANNEL | two)).cycles
    assert together - alone == 4


def test_equal_shares_of_the_l2():
    """132 SMs load 4,600 bytes per cycle on an H200, so that a sector takes an SM 59 of 64 parts of one."""
    assert sector_shares(load("h200"), 132) == (
        round(132 * 32 / 4600 * 64),
        round(132 * 32 / 2450 * 64),
        round(132 * 32 / 10700 * 64),
    )
    assert sector_shares(load("v100"), 80) == (0, 0, 0)


def test_a_slice_is_no_nearer_than_the_latency_of_the_l2():
    """A spread that makes hits of the L2 come at once, or before, is refused with its place."""
    with pytest.raises(UserError, match=r"--set l2_channel\.spread: 100 cycles nearer than the mean, of 100"):
        plain_machine(TAGS | CHANNEL | {"l2_channel.spread": 100})
