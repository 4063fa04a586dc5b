"""Constant operands: which lines miss, for how long, and which warps wait."""

import csv
from itertools import pairwise
from pathlib import Path

import pytest
from timing import cycles_of, run_text, stalled

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.sm.unit.capacities import CONSTANT_LINES
from gpusim.sm.unit.stall import Stall
from isa.text.listing import read

NEAR, FAR = 10, 30
KEYS = {
    "schedulers.interval": 1,
    "schedulers.issue_interval": 1,
    "constant_operand.first_byte": 0,
    "constant_operand.line_bytes": 8,
    "constant_operand.latency": NEAR,
    "constant_operand.far_lines": 2,
    "constant_operand.far_latency": FAR,
}
OF_DATA = {"constant_operand.parameters_near": 0}
PARAMETERS = "".join(f".param p{n} = {n}\n" for n in range(8))


def misses(text: str, warps: int = 1, **changes: int) -> int:
    """Warp-cycles that waited for constants."""
    lines = f".block {32 * warps}\n{PARAMETERS}{text}\nEXIT"
    return stalled(run_text(lines, KEYS | changes), Stall.IMC_MISS)


def test_a_line_is_waited_for_once():
    """Two constants of one line cost one far miss; a second line of the same far line costs a near miss.

    The second request begins when the first instruction issues, and that slot is no wait: one cycle less.
    """
    assert misses("MOV R0, c[p0]\nMOV R1, c[p1]") == FAR
    assert misses("MOV R0, c[p0]\nMOV R1, c[p2]") == FAR + NEAR - 1
    assert misses("MOV R0, c[p0]\nMOV R1, c[p4]") == 2 * FAR - 1


def test_lines_count_from_the_first_byte_of_the_bank():
    """If the constants begin in the middle of a line, the second constant is in the next line."""
    assert misses("MOV R0, c[p0]\nMOV R1, c[p1]", **{"constant_operand.first_byte": 4}) == FAR + NEAR - 1


def test_a_warp_joins_the_request_of_another():
    """Warps that start together wait for one request, each for as long as it is under way."""
    assert misses("MOV R0, c[p0]", warps=2, **{"launch.warp_skew": 0}) == 2 * FAR


def test_a_warp_that_comes_later_waits_for_the_rest():
    """A warp that starts 6 cycles after the first joins its request, and waits 6 cycles less."""
    assert misses("MOV R0, c[p0]", warps=2, **{"launch.warp_skew": 6}) == 2 * FAR - 6


def test_an_instruction_that_its_guard_turns_off_waits_too():
    """An instruction with a false guard waits for its constants, which are fetched before the guard decides."""
    assert misses("@P0 MOV R0, c[p0]") == FAR


def test_an_instruction_that_a_branch_jumps_over_requests_nothing():
    """An instruction that a branch skips asks for no constants."""
    assert misses("BRA past\nMOV R0, c[p0]\npast:\nMOV R1, R2") == 0


def test_an_instruction_without_constants_is_never_late():
    """Instructions with only registers and immediates wait for no constants."""
    assert misses("MOV R0, 1\nIADD R1, R0, R0") == 0


@pytest.mark.parametrize("stride", [4, 16, 32, 64, 128, 256])
def test_an_h200_misses_where_it_was_measured(stride):
    """A chain of FFMAs with constants `stride` bytes apart has near and far misses where constants.csv has them.

    What was measured is `__constant__` data, which no cache has when a launch begins; here parameters stand for it.
    """
    with (Path(__file__).parents[2] / "measured" / "constants.csv").open() as rows:
        wanted = str(stride), "32", "1"  # the second run: instructions are in their caches
        (measured,) = (row for row in csv.DictReader(rows) if (row["stride"], row["threads"], row["run"]) == wanted)
    most = min(32, CONSTANT_LINES // 2 * 64 // stride)
    words = range((most - 1) * stride // 4 + 1)
    chain = "".join(f"FFMA R0, R0, c[p{number * stride // 4}], R1\n" for number in range(most))
    kernel = read("".join(f".param p{n} = {n}\n" for n in words) + chain + "EXIT")
    run = run_sm(kernel, load("h200", OF_DATA | {"constant_operand.first_byte": 64}), trace=True)
    issues = [cycle for cycle, _, _ in cycles_of(run)]
    simulated = [kind(after - before) for before, after in pairwise([-1000, *issues[:-1]])]
    assert simulated == [kind(int(cycles)) for cycles in measured["cycles"].split()[:most]]


def kind(cycles: int) -> str:
    """The kind of miss that so many cycles between two issues show; the first instruction of a launch is always far."""
    return "there" if cycles < 60 else "near" if cycles < 200 else "far"


@pytest.mark.parametrize(
    ("distance", "data", "parameters"), [(1, 264, 60), (16, 264 + 59, 60 + 59), (64, 264 + 263, 60 + 59)]
)
def test_an_h200_loses_what_was_measured(distance, data, parameters):
    """Two operands 4, 64 or 256 bytes apart cost a far miss, a far and a near one, or two far ones.

    If they are parameters, they cost near ones. A chain of ULDC loses 263 and 59 cycles, and here one more.
    """
    listing = "".join(f".param p{n} = {n}\n" for n in range(distance + 1))
    kernel = read(f"{listing}MOV R0, c[p0]\nMOV R1, c[p{distance}]\nEXIT")
    assert stalled(run_sm(kernel, load("h200", OF_DATA)), Stall.IMC_MISS) == data
    assert stalled(run_sm(kernel, load("h200")), Stall.IMC_MISS) == parameters


SHARED = {"constant_operand.parameters_near": 1, "constant_operand.next_cycles": 20, "launch.warp_skew": 0}


@pytest.mark.parametrize(
    ("schedulers", "grid", "first", "second"),
    [
        (1, 4, NEAR, 20 + NEAR),  # a line takes 20 cycles
        (2, 4, NEAR + 20, 40 + NEAR + 20),  # two schedulers: a line takes 40 cycles, and 20 until the second has it
        (4, 4, NEAR + 60, 80 + NEAR + 60),
        (4, 2, NEAR + 30, 40 + NEAR + 30),  # half of the SMs take turns
    ],
)
def test_schedulers_and_sms_take_turns_at_the_next_cache(schedulers, grid, first, second):
    """Warps of four SMs ask for two lines: each of their schedulers for its own, 20 cycles if all SMs ask."""
    changes = KEYS | SHARED | {"schedulers.count": schedulers, "chip.sms": 4}
    text = f".grid {grid}\n.block 128\n{PARAMETERS}MOV R0, c[p0]\nMOV R1, c[p2]\nEXIT"
    issued = [cycle for cycle, warp, pc in cycles_of(run_text(text, changes)) if warp == 0 and pc < 2]
    assert issued[0] == first
    assert issued[1] == pytest.approx(second, abs=4)  # of four warps on a scheduler another one may go first


def test_the_next_cache_may_have_the_parameters():
    """Each line then costs a near miss, also the first of its far line, and whoever comes later joins its request."""
    near = {"constant_operand.parameters_near": 1}
    assert misses("MOV R0, c[p0]\nMOV R1, c[p1]", **near) == NEAR
    assert misses("MOV R0, c[p0]\nMOV R1, c[p2]\nMOV R2, c[p4]", **near) == NEAR + 2 * (NEAR - 1)
    assert misses("MOV R0, c[p0]", warps=2, **near | {"launch.warp_skew": 6}) == 2 * NEAR - 6
