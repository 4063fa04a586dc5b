"""Global memory: lines per access, and the SM's share of the channel."""

import pytest
from executed import packets
from timing import cycles_of, run_text

from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.machine.machine import load
from isa.table import TABLE
from isa.text.listing import read


def load_run(width, shift, offset=0, changes=None):
    """Lane i loads `width` bits at byte i << shift."""
    text = f"""
.buffer x u32 4096
    S2R R0, LANEID
    SHL R0, R0, {shift}
    IADD R0, R0, c[x]
    LDG{"" if width == 32 else f".{width}"} R4, [R0+{offset}]
    IADD R4, R4, 1
    EXIT
"""
    return run_text(text, {"global_memory.request_cycles": 1, **(changes or {})})


@pytest.mark.parametrize(
    ("width", "shift", "offset", "lines"),
    [(32, 2, 0, 1), (32, 2, 4, 2), (32, 3, 0, 2), (32, 7, 0, 32), (64, 3, 0, 2), (128, 4, 0, 4), (128, 5, 0, 8)],
)
def test_each_line_that_a_group_of_lanes_touches_is_a_transaction(width, shift, offset, lines):
    """32, 16 or 8 lanes are resolved together at 32, 64 or 128 bits (PG 4.2 F.4.2); a line has 128 bytes."""
    assert load_run(width, shift, offset).load_store_cycles[3] == lines


@pytest.mark.parametrize(
    ("rule", "width", "shift", "offset", "requests", "sectors"),
    [
        ("sectors", 32, 2, 0, 1, 4),
        ("sectors", 32, 2, 16, 2, 5),
        ("sectors", 32, 5, 0, 8, 32),
        ("sectors", 64, 3, 0, 2, 8),
        ("sectors", 128, 4, 0, 4, 16),
        ("sectors", 32, 7, 0, 32, 32),
        ("gt200", 32, 2, 0, 2, 4),
        ("gt200", 32, 2, 4, 3, 7),
        ("gt200", 32, 2, 64, 2, 4),
        ("gt200", 64, 3, 0, 2, 8),
        ("gt200", 128, 4, 0, 4, 16),
        ("gt200", 32, 7, 0, 32, 32),
    ],
)
def test_lines_are_requested_and_sectors_move(rule, width, shift, offset, requests, sectors):
    """By hand from the guide: a word on, GT200's half-warps use bytes 4-67 (128 move), 68-127 (64) and 128-131 (32)."""
    changes = {"global_memory.rule": rule, "chip.dram_mbs": 16000, "chip.shader_mhz": 1000, "global_memory.latency": 1}
    run = load_run(width, shift, offset, changes)
    assert run.load_store_cycles[3] == requests
    issued = {pc: cycle for cycle, _, pc in cycles_of(run)}
    assert issued[4] - issued[3] == 2 * sectors + 2  # two cycles each, the latency, and up to the next slot


@pytest.mark.parametrize("shift", [2, 7])
def test_bandwidth_delays_the_data_of_many_lines(shift):
    """At 8 bytes per cycle a line takes 16 cycles; the data is available a latency after the last line has moved."""
    changes = {"chip.dram_mbs": 8000, "chip.shader_mhz": 1000, "global_memory.latency": 100}
    run = load_run(32, shift, changes=changes)
    issued = {pc: cycle for cycle, _, pc in cycles_of(run)}
    lines = 1 if shift == 2 else 32
    assert issued[4] - issued[3] == 16 * lines + 100


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("hits", "cycles"), [("none", 16 * 1.25), ("l2", 8)])
def test_stores_take_the_dram_longer(hits, cycles, engine):
    """By hand: a line takes 16 cycles of 8 bytes, a stored one a quarter more; the channel to the L2 8, whatever moves.

    Sixteen stores of 32 lines each, and a load behind them, which waits for all.
    """
    memory = {"memory.efficiency": 1000, "memory.ecc": 0, "memory.ecc_cost": 1, "memory.written": 1250}
    cache = {f"cache.{level}_latency_{width}": 100 for level in ("l1", "l2") for width in (32, 64, 128)}
    cache |= {"cache.hits": hits, "cache.l1_late": 0, "cache.l2_late": 0, "cache.l2_sector_parts": 512}
    chip = {"chip.dram_mbs": 8000, "chip.shader_mhz": 1000, "global_memory.latency": 100}
    stores = "".join(f"STG [R0+{4096 * n}], RZ\n" for n in range(16))
    text = f".buffer x u32 32768\nS2R R0, LANEID\nSHL R0, R0, 7\nIADD R0, R0, c[x]\n{stores}LDG R4, [R0]\nEXIT"
    run = run_text(text, chip | memory | cache, engine=engine)
    served = {pc: cycle for cycle, _, pc in cycles_of(run, "serve")}
    first, load = 32 * cycles, 32 * (16 if hits == "none" else 8)
    assert run.cycles == pytest.approx(served[3] + 16 * first + load + 100, abs=8)


@pytest.mark.parametrize(("ecc", "cycles"), [(0, 20), (1, 25)])
def test_less_than_the_whole_bandwidth_arrives(ecc, cycles):
    """Of 8 bytes per cycle, 800 thousandths arrive, 200 thousandths less with ECC: 128 bytes take 20 or 25 cycles."""
    memory = {"memory.efficiency": 800, "memory.ecc": ecc, "memory.ecc_cost": 200}
    changes = {"chip.dram_mbs": 8000, "chip.shader_mhz": 1000, "global_memory.latency": 100, **memory}
    issued = {pc: cycle for cycle, _, pc in cycles_of(load_run(32, 2, changes=changes))}
    assert issued[4] - issued[3] == 2 * -(-(cycles + 100) // 2)


def test_an_exit_waits_until_stored_lines_have_left():
    """The EXIT after a scattered store of 32 lines, 16 cycles each, issues when the last line has left the SM."""
    changes = {"chip.dram_mbs": 8000, "chip.shader_mhz": 1000, "global_memory.request_cycles": 1}
    text = ".buffer x u32 1024\nS2R R0, LANEID\nSHL R0, R0, 7\nIADD R0, R0, c[x]\nSTG [R0], R1\nEXIT"
    issued = {pc: cycle for cycle, _, pc in cycles_of(run_text(text, changes))}
    assert issued[4] - issued[3] == 32 * 16


PLACES = {  # the word of each lane
    "a line": lambda lane: lane,
    "one word": lambda _: 0,
    "lines": lambda lane: 32 * lane,
    "pairs": lambda lane: lane // 2,
    "eights": lambda lane: lane // 8,
    "sectors": lambda lane: 8 * lane,
}
PACKETS = {  # by the rule, by hand
    "RED.ADD": {"a line": 5, "one word": 32, "lines": 32, "pairs": 2 * 3, "eights": 8 * 2, "sectors": 8 * 5},
    "ATOMG.ADD": {"a line": 6, "one word": 64, "lines": 64, "pairs": 2 * 4, "eights": 8 * 3, "sectors": 8 * 6},
    "ATOMG.CAS": {"a line": 10, "one word": 64, "lines": 64, "pairs": 2 * 6, "eights": 8 * 4, "sectors": 8 * 10},
}
MEASURED = {  # cycles of one of 16 warps' instructions on an H200
    "RED.ADD": {"a line": 4.65, "one word": 30.2, "lines": 30.2, "pairs": 5.6, "eights": 15.05, "sectors": 37.7},
    "ATOMG.ADD": {"a line": 5.5, "one word": 64.1, "lines": 64.1, "pairs": 7.4, "eights": 25.5, "sectors": 40.5},
    "ATOMG.CAS": {"a line": 10.5, "one word": 64.3, "lines": 64.1, "pairs": 10.5, "eights": 31.8, "sectors": 80.5},
}
CASES = [(mnemonic, places) for mnemonic in PACKETS for places in PLACES]


@pytest.mark.parametrize(("mnemonic", "places"), CASES)
def test_an_atomic_goes_to_the_l2_in_packets(mnemonic, places):
    """Lanes of one line go together, each word once at a time: as many packets as by hand, 60/64 of a cycle each.

    A line takes a cycle at least. That is within an eighth of what an H200 takes.
    """
    count = PACKETS[mnemonic][places]
    assert packets(TABLE[mnemonic], [4 * PLACES[places](lane) for lane in range(32)], 128) == count
    lines = {32 * PLACES[places](lane) // 1024 for lane in range(32)}
    assert atomic(mnemonic, places).load_store_cycles[-3] == max(-(-count * 60 // 64), len(lines))
    assert abs(count * 60 / 64 / MEASURED[mnemonic][places] - 1) < 1 / 8


def atomic(mnemonic, places, changes=None, rest="EXIT"):
    """Run one warp with an atomic on an H200; each lane's word is that of its place."""
    shift, left = {"a line": (0, 0), "one word": (31, 0), "lines": (0, 5), "pairs": (1, 0), "eights": (3, 0)}.get(
        places, (0, 3)
    )
    operands = {"RED.ADD": "[R1], R4", "ATOMG.ADD": "R5, [R1], R4", "ATOMG.CAS": "R5, [R1], R4, R6"}[mnemonic]
    text = f"""
.buffer y u32 1024
    S2R R0, LANEID
    SHR R1, R0, {shift}
    SHL R1, R1, {left + 2}
    IADD R1, R1, c[y]
    MOV R4, 1
    MOV R6, 2
    {mnemonic} {operands}
    {rest}
"""
    return run_sm(read(text), load("h200", {"cache.hits": "none"} | (changes or {})), trace=True)


@pytest.mark.parametrize(
    ("places", "chain"), [("a line", 529.5), ("one word", 593.9), ("lines", 593.8), ("sectors", 568.6)]
)
def test_the_old_value_comes_after_the_packets(places, chain):
    """A reader waits as long as a chain of atomics on an H200, less the 11 cycles of its addresses, within a 40th."""
    run = atomic("ATOMG.ADD", places, {"cache.hits": "l2"}, rest="IADD R5, R5, 1\n    EXIT")
    issued = [cycle for cycle, _, _ in cycles_of(run)]
    assert abs((issued[-2] - issued[-3]) / (chain - 11) - 1) < 1 / 40


def test_an_atomic_drops_the_line_from_the_l1():
    """A load behind an atomic on its line asks the L2, though the line was in the L1; without the atomic it hits.

    What the L2 has comes after 290 cycles in the mean, 16 sooner from slices near the SM.
    """
    head = "S2R R0, LANEID\nSHL R0, R0, 2\nIADD R0, R0, c[y]\nLDG R4, [R0]\nIADD R4, R4, 1\n"
    tail = "LDG R6, [R0]\nIADD R6, R6, 1\nEXIT"
    times = []
    for atomic_ in ("NOP\n", "ATOMG.ADD R5, [R0], R4\nIADD R5, R5, 1\n"):
        run = run_sm(read(f".buffer y u32 32\n{head}{atomic_}{tail}"), load("h200", {"cache.hits": "tags"}), trace=True)
        issued = [cycle for cycle, _, _ in cycles_of(run)]
        times.append(issued[-2] - issued[-3])
    assert times[0] < 40
    assert times[1] >= 290 - 16
