"""Global memory: lines per access, and the SM's share of the channel."""

import pytest
from timing import cycles_of, run_text


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
