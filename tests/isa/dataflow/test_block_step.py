"""How far addresses move from block to block: instructions followed, instructions given up, and the steps."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from interpreter.interpret import interpret
from strategies.launches import REPEATABLE, kernels, looping_kernels

from isa.dataflow import block_step
from isa.dataflow.block_step import block_steps, states, texture_steps
from isa.dataflow.flow import successors
from isa.memory import constants
from isa.row import Unit
from isa.text.listing import read
from workloads.catalog import make
from workloads.measured.whole.launch import kernel as timed

HEAD = ".grid 4 3 2\n.block 8 4 2\n.buffer x u32 64\nS2R R0, CTAID.X\nS2R R1, CTAID.Y\nS2R R2, CTAID.Z\n"


def step(text, before=""):
    """Return the step of the listing's last load; R0, R1 and R2 are the block's coordinates; None: given up."""
    steps = block_steps(read(f"{HEAD}{before}{text}\nLDG R9, [R8]\nEXIT"))
    return None if steps is None else list(steps.values())[-1]


@pytest.mark.every
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MOV R8, R1", (0, 1, 0)),
        ("MOV R8, 77", (0, 0, 0)),
        ("IADD R8, R0, R2", (1, 0, 1)),
        ("IADD R8, R0, R0", (2, 0, 0)),
        ("IADD R8, R0, -R1", (1, 2**32 - 1, 0)),
        ("IADD3 R8, R0, R2, R0", (2, 0, 1)),
        ("S2R R3, LANEID\nSHFL.BFLY R3, R3, 1\nIADD R8, R3, R0", (1, 0, 0)),
        ("IADD R8, -R0, R0", (0, 0, 0)),
        ("IMUL R8, R0, 12", (12, 0, 0)),
        ("IMUL R8, 12, R2", (0, 0, 12)),
        ("IMUL R8, R0, c[x]", (4096, 0, 0)),
        ("IMAD R8, R0, 4, R1", (4, 1, 0)),
        ("SHL R8, R1, 7", (0, 128, 0)),
        ("IMUL R8, R0, -4", (2**32 - 4, 0, 0)),
        ("IMUL R8, R0, 0x40000000\nSHL R8, R8, 2", (0, 0, 0)),
        ("S2R R3, NTID.Y\nIMUL R8, R0, R3", (4, 0, 0)),
        ("S2R R3, NCTAID.X\nIMAD R8, R1, R3, R0", (1, 4, 0)),
        ("MOV R3, 3\nIMUL R3, R3, 5\nIADD R3, R3, 1\nIMUL R8, R0, R3", (16, 0, 0)),
        ("S2R R3, TID.X\nIMUL R3, R3, R3\nLOP.AND R3, R3, 60\nIADD R8, R3, R0", (1, 0, 0)),
    ],
)
def test_linear_instructions_are_followed(text, expected):
    """Sums, differences, and products and shifts by constants or launch sizes have steps, modulo 2**32."""
    assert step(text) == expected


@pytest.mark.every
@pytest.mark.parametrize(
    "text",
    [
        "IMUL R8, R0, R1",
        "S2R R3, TID.X\nIMUL R8, R0, R3",
        "IMUL.HI R8, R0, 4",
        "LOP.AND R8, R0, 12",
        "SHR R8, R0, 1",
        "SHL R8, R0, 32",
        "SHL R8, R0, R1",
        "SHL R8, 1, R0",
        "LDS R8, [RZ]",
        "LDG R8, [R1]",
        "TEX R8, tex[x], R0",
        "IMNMX R8, R0, R1, PT",
        "SHFL.IDX R8, R0, 3",
        "REDUX.SUM R8, R0",
        "ISETP.LT P0, R0, 2\nVOTE.BALLOT R8, P0",
        "ISETP.LT P0, R0, 2\n@P0 REDUX.SUM R8, RZ",
    ],
)
def test_nonlinear_instructions_are_given_up(text):
    """Products of two values that vary, bits of values that move, and loaded values have no step: None."""
    assert step(text) is None


def test_a_negative_parameter_is_a_pattern_of_32_bits():
    """A parameter of -1 is 2**32 - 1: as a factor it reverses a step, as a shift count it is too large."""
    for text, expected in (("IMUL R8, R0, c[n]", {4: (2**32 - 1, 0, 0)}), ("SHL R8, R0, c[n]", None)):
        kernel = read(f".param n = 0\n{HEAD}{text}\nLDG R9, [R8]\nEXIT")
        assert block_steps(replace(kernel, parameters={"n": -1})) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MOV R8, R0\n@P0 IADD R8, R8, 64", (1, 0, 0)),
        ("MOV R8, R0\n@P0 IADD R8, R8, R0", None),
        ("MOV R8, R0\n@P0 BRA on\nIADD R8, R8, 64\non:", (1, 0, 0)),
        ("MOV R8, R0\n@P0 BRA on\nIADD R8, R8, R1\non:", None),
        ("MOV R3, 4\n@P0 MOV R3, 8\nIMUL R8, R0, R3", None),
        ("MOV R3, 4\n@P0 MOV R3, 4\nIMUL R8, R0, R3", (4, 0, 0)),
        ("MOV R8, R0\nMOV R3, 0\non:\nIADD R8, R8, 64\nIADD R3, R3, 1\nISETP.LT P1, R3, 9\n@P1 BRA on", (1, 0, 0)),
        ("MOV R8, 0\nMOV R3, 0\non:\nIADD R8, R8, R0\nIADD R3, R3, 1\nISETP.LT P1, R3, 9\n@P1 BRA on", None),
    ],
)
def test_ways_that_join_must_agree(text, expected):
    """After a guard, a branch or a round of a loop a step is known if it is the same on every way there."""
    assert step(text, before="S2R R4, TID.X\nISETP.LT P0, R4, 3\n") == expected


def test_values_that_move_together_compare_alike():
    """A pointer and its end both move by 128 from block to block, so their comparison and the branch stay the same."""
    text = "SHL R8, R0, 7\nIADD R3, R8, 512\non:\nIADD R8, R8, 64\nISETP.LT.U32 P0, R8, R3\n@P0 BRA on"
    steps = block_steps(read(f"{HEAD}{text}\nLDG R9, [R8]\nEXIT"))
    assert steps == {6: (128, 0, 0), 8: (128, 0, 0)}


def spilled(text):
    """Return the step of a load from R8, in a program whose local memory has R12 as its only pointer."""
    return step(text, before=".local 16\nMOV R12, 0\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("STL [R12+4], R1\nLDL R8, [R12+4]", (0, 1, 0)),
        ("STL [R12+4], R1\nSTL [R12+8], R0\nLDL R8, [R12+4]", (0, 1, 0)),
        ("STL.64 [R12], R0\nLDL R8, [R12+4]", (0, 1, 0)),
        ("STL [R12+4], RZ\nLDL R8, [R12+4]", (0, 0, 0)),
        ("LDL R8, [R12+4]", None),
        ("STL [R12+4], R1\n@P0 STL [R12+4], R0\nLDL R8, [R12+4]", None),
        ("STL [R12+4], R1\nMOV R3, 0\nSTL [R3+4], R0\nLDL R8, [R12+4]", None),
    ],
)
def test_spilled_registers_keep_their_steps(text, expected):
    """A word of a slot moves as the register that was stored; an unwritten one, or one of two, is not known."""
    assert spilled(text) == expected


@pytest.mark.parametrize("compared", ["R0, 5", "R0, R1", "-R0, R0"])
def test_comparing_values_that_move_apart_is_given_up(compared):
    """A guard that may differ from block to block gives None."""
    if compared.startswith("-"):
        assert step("IADD R3, RZ, -R0\nISETP.LT P0, R3, R0\n@P0 MOV R7, 1\nMOV R8, 0") is None
    else:
        assert step(f"ISETP.LT P0, {compared}\n@P0 MOV R7, 1\nMOV R8, 0") is None


def test_comparing_floats_that_move_is_given_up():
    """FSETP of values that move gives None, since equal steps of patterns say nothing about the numbers."""
    assert step("FSETP.LT P0, R0, R0\n@P0 MOV R7, 1\nMOV R8, 0") is None


@pytest.mark.parametrize("access", ["LDS R9, [R3]", "STS [R3], R9", "LDL R9, [R3]"])
def test_a_shared_or_local_address_that_moves_is_given_up(access):
    """A shared or local address that depends on the block gives None; a constant one leaves the load's step at 0."""
    assert step(f"SHL R3, R0, 2\n{access}\nMOV R8, 0") is None
    assert step(f"MOV R3, 4\n{access}\nMOV R8, 0") == (0, 0, 0)


def observed(kernel, block):
    """Return each access of a block to global memory, in order: pc, warps, active lanes and their addresses."""
    found = []

    def observe(pc, warps, addresses, active):
        if kernel.program.instructions[pc].row.unit is Unit.GLOBAL:
            found.append((pc, warps.tolist(), active.copy(), np.where(active, addresses, 0).astype(np.int64)))

    interpret(kernel, blocks=[block], observe=observe)
    return found


def check_steps(kernel):
    """Assert that from each block to the next one in x, y and z the addresses move by the steps."""
    steps = block_steps(kernel)
    assert steps is not None
    gx, gy, _ = kernel.grid
    traces = [observed(kernel, block) for block in range(kernel.blocks)]
    places = [(b % gx, b // gx % gy, b // (gx * gy)) for b in range(kernel.blocks)]
    for (one, at), (other, on) in pairwise(zip(traces, places, strict=True)):
        assert [event[:2] for event in one] == [event[:2] for event in other]
        for (pc, _, active, before), (_, _, active_too, after) in zip(one, other, strict=True):
            moved = sum(s * (q - p) for s, p, q in zip(steps[pc], at, on, strict=True))
            assert (active == active_too).all()
            assert (((after - before - moved) % 2**32)[active] == 0).all()


@settings(REPEATABLE, max_examples=draws(60))
@given(looping_kernels())
def test_steps_are_what_happens_in_loops(kernel):
    """On random loops, addresses and active lanes of all blocks are the first one's, moved by the steps."""
    check_steps(kernel)


@pytest.mark.long
def test_steps_are_what_happens_where_they_are_known():
    """Of random kernels 8 % or more have steps, and their addresses move by them."""
    followed = 0

    @settings(REPEATABLE, max_examples=draws(150))
    @given(kernels(most_blocks=3).filter(lambda kernel: kernel.blocks > 1))
    def agree(kernel):
        nonlocal followed
        if block_steps(kernel) is not None:
            followed += 1
            check_steps(kernel)

    agree()
    assert followed >= draws(150) * 12 // 150


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("sgemm-lai", {"m": "192", "n": "192", "k": "32"}), ("sg4", {"k": "16"}), ("throughput", {"blocks": "3"})],
)
def test_the_matrix_products_move_by_tiles(name, parameters):
    """All blocks of two matrix products and a microbenchmark access what the first does, moved by the steps."""
    check_steps(make(name, parameters))


GRID = """
.grid 3 2 2
.buffer x u32 4096
    S2R R0, CTAID.X
    S2R R1, CTAID.Y
    S2R R2, CTAID.Z
    S2R R3, NTID.X
    S2R R4, LANEID
    IMUL R5, R0, R3
    IMAD R5, R1, 96, R5
    IMAD R5, R2, 512, R5
    IADD R5, R5, -R0
    IADD R5, R5, R4
    SHL R5, R5, 2
    IADD R5, R5, c[x]
    STG [R5], R4
    EXIT
"""


def test_a_grid_of_three_dimensions_moves_in_each():
    """The steps in bytes are 124 in x, 384 in y and 2048 in z: 31, 96 and 512 words."""
    kernel = read(GRID)
    assert block_steps(kernel) == {12: (124, 384, 2048)}
    check_steps(kernel)


@pytest.mark.parametrize(
    ("fetch", "expected"),
    [
        ("TEX R8, tex[x], R3", {}),
        ("IMUL R3, R0, 8\nTEX R8, tex[x], R3", {4: ((8, 0, 0), (0, 0, 0))}),
        ("IMUL R3, R0, 2\nTEX.128 R8, tex[x], R3", {4: ((2, 0, 0), (0, 0, 0))}),
        ("TEX.2D R8, tex[x], R3, R1, 16", {3: ((0, 0, 0), (0, 1, 0))}),
        ("IMUL R3, R0, -16\nTEX.2D R8, tex[x], R3, R2, 8", {4: ((2**32 - 16, 0, 0), (0, 0, 1))}),
        ("TEX R8, tex[x], R0", None),
        ("TEX.2D R8, tex[x], R3, R1, 12", None),
        ("S2R R4, LANEID\nTEX.2D R8, tex[x], R3, R1, R4", None),
        ("TEX.2D R8, tex[x], R3, R3, R1", None),
        ("LOP.AND R3, R0, 8\nTEX R8, tex[x], R3", None),
    ],
)
def test_steps_of_coordinates(fetch, expected):
    """Columns and rows have steps in elements, but if these are irregular, part of a sector, or of unknown length."""
    assert texture_steps(read(f"{HEAD}{fetch}\nEXIT")) == expected


def test_the_second_word_of_a_pair_of_constants_is_followed():
    """ULDC.64 brings both pitches of a product; rows of A and B are 128 times 1024 floats from block to block."""
    steps = block_steps(timed("sgemm_128x128_8x8_v4_pre_NT", "full"))
    assert steps is not None
    assert {(0, 1 << 19, 0), (1 << 19, 0, 0)} <= set(steps.values())


DIAMOND = "@P0 BRA low{0}\nIADD R{1}, R{1}, 1\nBRA met{0}\nlow{0}:\nIADD R{1}, R{1}, 2\nmet{0}:\nNOP"
CALL = "LEPC R60, back{0}\nCALL.REL.NOINC f{1}\nback{0}:\nIADD R{1}, R{1}, R50\nMOV R50, {0}"
FUNCTION = "f{0}:\nIADD R{0}, R{0}, R50\nRET.REL.NODEC R60"


@pytest.mark.parametrize(
    "lines",
    [
        [DIAMOND.format(n, n % 30) for n in range(60)] + ["EXIT"],
        [CALL.format(n, n % 20) for n in range(60)] + ["EXIT"] + [FUNCTION.format(n) for n in range(20)],
    ],
    ids=["diamonds", "calls"],
)
def test_each_place_is_looked_at_a_few_times(lines, monkeypatch):
    """Behind 60 branches that meet again, and 60 calls of 20 functions, an instruction is followed 4 times at most."""
    kernel, looked, follow = read("\n".join(lines)), [], block_step._after
    monkeypatch.setattr(block_step, "_after", lambda one, *rest: looked.append(one) or follow(one, *rest))
    assert None not in states(kernel)
    assert len(looked) <= 4 * len(kernel.program)


@pytest.mark.parametrize("name", ["sgemm-lai", "transpose", "divergence"])
def test_states_follow_from_those_before(name):
    """What an instruction leaves of the state before it adds nothing to the states of those that may come next."""
    kernel = make(name)
    found, known = states(kernel), constants(kernel)
    for pc, ways in enumerate(successors(kernel.program)):
        after = block_step._after(kernel.program.instructions[pc], found[pc], known, kernel)
        assert all(block_step._merged(found[way], after) is None for way in ways)
