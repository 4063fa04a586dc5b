"""Instruction fetch: cycles of loops that fit into a cache, and of loops that do not."""

import pytest
from timing import run_text, stalled

from gpusim.machine.machine import load
from gpusim.sm.unit.stall import Stall
from isa.errors import UserError

LINE, ROUNDS = 8, 6
FETCH = {
    "schedulers.interval": 1,
    "schedulers.issue_interval": 1,
    "branch.latency": 1,
    "fetch.line": LINE,
    "fetch.ahead": 3,
    "fetch.l0_lines": 8,
    "fetch.l0_ways": 8,
    "fetch.l1_lines": 16,
    "fetch.l1_ways": 16,
    "fetch.l1_latency": 20,
    "fetch.l1_parts": 0,
    "fetch.l15_lines": 0,
    "fetch.l15_ways": 1,
    "fetch.l15_latency": 1,
    "fetch.l15_parts": 0,
    "fetch.memory_latency": 101,
    "fetch.memory_parts": 0,
}


def loop(instructions: int, warps: int = 1, rounds: int = ROUNDS) -> str:
    """A loop of so many instructions, each of which waits only for the issue before it."""
    counting = ["IADD R0, R0, 1", f"ISETP.LT P0, R0, {rounds}", "@P0 BRA again", "EXIT"]
    return "\n".join([f".block {32 * warps}", "again:", *["NOP"] * (instructions - 3), *counting])


def round_of(lines: int, changes: dict[str, int], warps: int = 1) -> float:
    """Cycles of one more round of a loop of so many lines."""
    few, many = (run_text(loop(lines * LINE, warps, rounds), FETCH | changes) for rounds in (ROUNDS, 2 * ROUNDS))
    return (many.cycles - few.cycles) / ROUNDS


def line_of(lines: int, changes: dict[str, int], warps: int = 1) -> float:
    """Cycles of one more line of the loop."""
    return (round_of(2 * lines, changes, warps) - round_of(lines, changes, warps)) / lines


def test_a_program_that_the_schedulers_cache_holds_costs_nothing():
    """A program of 8 lines, the place after its end included, takes the cycles of a machine without fetch."""
    text = loop(8 * LINE - 2)
    with_fetch, without = run_text(text, FETCH), run_text(text, {k: v for k, v in FETCH.items() if "fetch" not in k})
    assert (with_fetch.cycles, stalled(with_fetch, Stall.NO_INSTRUCTION)) == (without.cycles, 0)


@pytest.mark.jit
def test_lines_of_the_next_cache_come_in_time_if_enough_are_asked_for_ahead():
    """Three lines ahead, 24 instructions, hide the L1's 20 cycles: only the first line after the branch is late."""
    wide = {"fetch.l1_lines": 64, "fetch.l1_ways": 64}
    assert line_of(15, wide) == LINE
    assert 0 < round_of(15, wide) - round_of(15, wide | {"fetch.l0_lines": 64, "fetch.l0_ways": 64}) <= 20


@pytest.mark.jit
def test_a_loop_longer_than_a_cache_takes_every_line_from_memory():
    """The line used longest ago makes room, so all come from memory, four at a time: (101 + 7) / 4 cycles each."""
    assert line_of(40, {}) == (101 + LINE - 1) / 4


@pytest.mark.jit
def test_a_port_passes_one_line_after_another():
    """Two schedulers in step ask for each line twice; a port that takes 12 cycles a line serves each one in 24."""
    changes = {"schedulers.count": 2, "fetch.l1_parts": 12 * 64, "fetch.l1_lines": 64, "fetch.l1_ways": 64}
    assert line_of(15, changes, warps=2) == pytest.approx(24, abs=0.1)  # a slot more or less at the round's end


@pytest.mark.jit
def test_warps_of_a_scheduler_share_its_lines():
    """Four warps of one scheduler take each line from memory once: their 32 issues hide the 27 cycles of a line."""
    assert line_of(40, {}, warps=4) == 4 * LINE


def test_a_cache_that_is_not_of_whole_sets_is_refused():
    """A cache of 9 lines in sets of 8 is refused."""
    with pytest.raises(UserError, match=r"fetch\.l1_lines: 9 lines; take a multiple of the 8 of a set"):
        load("h200", {"fetch.l1_lines": 9})


@pytest.mark.jit
@pytest.mark.parametrize(("apart", "line"), [(0, 10), (5 * 64, 10), (20 * 64, 20)])
def test_beyond_a_wave_all_sms_want_lines_of_the_same_port(apart, line):
    """The L1.5 passes one more line in 10 cycles for one SM, in 20 for each of all where the grid has a second wave."""
    shared = {"fetch.l15_lines": 64, "fetch.l15_ways": 64, "fetch.l15_parts": 640, "fetch.l15_apart_parts": apart}
    changes = shared | {"chip.sms": 1, "limits.blocks": 1}
    assert [line_of_blocks(blocks, changes) for blocks in (1, 2)] == [10, line]


def line_of_blocks(blocks: int, changes: dict[str, int]) -> float:
    """Cycles of one more line of a loop, for each block of a grid whose blocks follow each other."""
    few, many = (round_of_blocks(blocks, lines, changes) for lines in (25, 50))
    return (many - few) / 25


def round_of_blocks(blocks: int, lines: int, changes: dict[str, int]) -> float:
    """Cycles of one more round of a loop of so many lines, for each of these blocks."""
    texts = (f".grid {blocks}\n" + loop(lines * LINE, 1, rounds) for rounds in (ROUNDS, 2 * ROUNDS))
    few, many = (run_text(text, FETCH | changes).cycles for text in texts)
    return (many - few) / ROUNDS / blocks
