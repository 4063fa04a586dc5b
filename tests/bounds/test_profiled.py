"""Profiled blocks: what they stand for, and the bounds that follow."""

from dataclasses import replace

import pytest

from gpusim.bounds import bounds
from gpusim.bounds.bounds import bound
from gpusim.bounds.profiled import holds, profiled
from gpusim.engines.simulate import run_chip, run_sm
from gpusim.engines.walks import profile
from gpusim.machine.machine import load
from isa.errors import LimitError
from isa.text.listing import read

LIMIT = 10_000
ROWS = ".buffer a f32 4096\nS2R R0, TID.X\nS2R R1, CTAID.X\nIMAD R0, R1, 48, R0\nSHL R0, R0, 2\nIADD R0, R0, c[a]\n"
SLOW = load("gtx580", {"chip.sms": 1, "chip.dram_mbs": 2000})
TWO_SMS = {"chip.sms": 2, "chip.dram_mbs": 2_000_000, "global_memory.request_cycles": 200, "global_memory.latency": 100}
STEPS = ".buffer a f32 4096\nS2R R0, LANEID\nS2R R1, CTAID.X\nIADD R0, R0, R1\nSHL R0, R0, 2\nIADD R0, R0, c[a]\n"
BANKS = ".shared 16384\nS2R R0, LANEID\nS2R R1, CTAID.X\nIMUL R0, R0, R1\nSHL R0, R0, 7\n"


def test_bandwidth_counts_the_lines_of_each_block():
    """Of 5 blocks with 100 loads of 128 bytes 3 begin a line, and take one each, and 2 take two: 700 lines.

    One SM at 1544 MHz moves 2000 MB/s, so that a line takes 98.8 cycles.
    """
    found = bound(read(f".grid 5\n{ROWS}" + "LDG R2, [R0]\n" * 100 + "EXIT"), SLOW)
    assert found.limits["memory bandwidth"] == pytest.approx(700 * 128 * 1544 / 2000, rel=1e-3)
    assert (found.alike, found.profiled_blocks) == (True, 1)


@pytest.mark.jit
def test_blocks_at_a_border_are_not_taken_for_those_inside():
    """Of 7 columns of blocks the last loads nothing; neither the first, middle nor last of an SM's blocks is there."""
    loads = "LDS R2, [R1]\n" * 50
    kernel = read(f".grid 7 12\n.shared 512\nS2R R0, CTAID.X\nISETP.GE P0, R0, 6\n@P0 BRA out\n{loads}out:\nEXIT")
    machine = load("gtx580", {"chip.sms": 2, "limits.blocks": 2})
    found = bound(kernel, machine)
    assert not found.alike
    assert found.profiled_blocks < found.blocks == 42
    assert found.cycles <= run_sm(kernel, machine).cycles
    assert found.limits["load/store unit"] == pytest.approx(36 * 50 * 2, rel=0.02)


def test_blocks_of_equal_costs_are_one_work():
    """32 blocks whose one word lies anywhere in a line cost the same: one work stands for all."""
    text = ".grid 32\n.buffer a f32 64\nS2R R1, CTAID.X\nSHL R1, R1, 2\nIADD R1, R1, c[a]\nLDG R2, [R1]\nEXIT"
    found = profiled(read(text), SLOW, range(32), 1, LIMIT)
    assert ([work.blocks for work in found.works], found.equal) == ([32], True)


@pytest.mark.parametrize(
    "text",
    [STEPS + "".join(f"LDG R{4 + i}, [R0]\n" for i in range(12)), BANKS + "LDS R4, [R0]\n" * 40],
    ids=["lines", "banks"],
)
def test_a_chip_whose_blocks_cost_differently_keeps_the_bound(text):
    """An SM with two of three blocks may have the cheap ones: only the mean work of an SM is sure."""
    kernel, machine = read(f".grid 3\n{text}EXIT"), load("gtx580", TWO_SMS)
    assert not profiled(kernel, machine, range(3), 2, LIMIT).equal
    assert bound(kernel, machine, sms=2).cycles <= run_chip(kernel, machine).cycles


def test_a_budget_holds_blocks():
    """A block has two warps of 10 instructions: 100 of them hold five, 25 and 5 hold one, at most 5 none."""
    body = "FADD R3, R3, 1.0\n" * 9 + "EXIT"
    kernel = read(f".grid 6 5\n.block 64\n{body}")
    assert [holds(kernel, SLOW, budget, LIMIT) for budget in (100, 25, 5)] == [5, 1, 1]
    assert holds(read(f".grid 6 5\n.block 64\n{body}"), SLOW, 100, 5) is None


def test_a_first_block_is_profiled_once_whatever_the_limit(monkeypatch):
    """The bound takes the profile that others needed, with another limit too; a smaller one is still a limit."""
    body = "FADD R3, R3, 1.0\n" * 9 + "EXIT"
    kernel, walks = read(f".grid 6 5\n.block 64\n{body}"), []
    of_block = profile.profile
    monkeypatch.setattr(profile, "profile", lambda one, **given: walks.append(given["limit"]) or of_block(one, **given))
    assert profile.first_profile(kernel, LIMIT, SLOW).counts.sum() == 2 * 10
    assert bound(kernel, SLOW, limit=2 * LIMIT).profiled_blocks == 1
    assert walks == [LIMIT]
    with pytest.raises(LimitError, match="more than 5 warp instructions"):
        bound(kernel, SLOW, limit=5)


def test_no_budget_holds_blocks_that_memory_decides():
    """Where loaded values branch, nothing can be counted beforehand; what they guard is executed anyway: 5 of 10."""
    loaded = ".grid 4\n.buffer a f32 64\nMOV R0, c[a]\nLDG R1, [R0]\nISETP.LT P0, R1, 5\n"
    assert holds(read(f"{loaded}@P0 BRA end\nFADD R2, R2, 1.0\nend:\nEXIT"), SLOW, 1000, LIMIT) is None
    assert holds(read(f"{loaded}@P0 FADD R2, R2, 1.0\nEXIT"), SLOW, 10, LIMIT) == 2


def test_equal_blocks_limit_as_one(monkeypatch):
    """Of 32 blocks whose branches depend on memory each is profiled; the four kinds limit as all 32 one by one.

    A block's rounds are one more than its id modulo 4, and its words in shared memory as far apart as that.
    """
    loop = "S2R R3, CTAID.X\nLOP.AND R0, R3, 3\nIADD R0, R0, 1\nS2R R1, LANEID\nIMUL R1, R1, R0\nSHL R1, R1, 2\n"
    loop += "again:\nLDS R2, [R1]\nIADD R0, R0, -1\nISETP.GT P0, R0, 0\n@P0 BRA again\n"
    text = f".grid 32\n.shared 1024\n.buffer a f32 32\n{loop}MOV R4, c[a]\nLDG R5, [R4]\nISETP.EQ P1, R5, 77\n"
    kernel = read(f"{text}@P1 BRA end\nSTG [R4], R3\nend:\nEXIT")
    found = profiled(kernel, SLOW, range(32), 1, LIMIT)
    assert (len(found.works), [work.blocks for work in found.least]) == (32, [8] * 4)
    apart = [replace(work, blocks=1) for work in found.least for _ in range(work.blocks)]
    limits = bound(kernel, SLOW).limits
    monkeypatch.setattr(bounds, "profiled", lambda *_: found._replace(least=apart))
    assert bound(kernel, SLOW).limits == limits
