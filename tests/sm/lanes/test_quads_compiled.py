"""Compiled products of 8 x 8 x 4 halves, on a Turing card: whole numbers, against NumPy."""

import numpy as np
import pytest
from read.fenced import ROOT
from warpgroup_code import module, result

from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.engines.walks.program_order import walk
from gpusim.machine.machine import load

CASES = {"f32_f32": (True, True), "f16_f16": (False, False), "f32_f16": (True, False)}  # a lane has a row of A, of B


def elements(kind):
    """Return for each lane and number of C or D its product, row and column (PTX ISA, mma.m8n8k4)."""
    lane, i = np.arange(32)[:, None], np.arange(8)
    quad, first = lane % 16 // 4, lane // 16 * 4
    if kind == "f16":
        return np.broadcast_arrays(quad, first + lane % 4, i)
    return quad + 0 * i, first + lane % 2 + (i & 2), (i & 4) + (lane & 2) + (i & 1)


def case(name):
    """Return the launch of a kernel and the numbers of D by lane."""
    random, (row_of_a, column_of_b) = np.random.default_rng(2), CASES[name]
    a, b, c = (random.integers(-8, 9, (4, 8, size)).astype(np.float32) for size in (4, 4, 8))
    lane, i = np.arange(32)[:, None], np.arange(4)
    quad, first = lane % 16 // 4, lane // 16 * 4
    own, other = first + lane % 4 + 0 * i, first + i
    of_a = a[quad, own, i] if row_of_a else a[quad, other, lane % 4]
    of_b = b[quad, own, i] if column_of_b else b[quad, other, lane % 4]
    result_kind, addend_kind = name.split("_")
    of_c = c[elements(addend_kind)]
    words = np.zeros((32, 12), np.uint32)
    words[:, :2], words[:, 2:4] = (one.astype(np.float16).view(np.uint32) for one in (of_a, of_b))
    held = np.ascontiguousarray(of_c.astype(np.float16 if addend_kind == "f16" else np.float32)).view(np.uint32)
    words[:, 4 : 4 + held.shape[1]] = held
    out = np.zeros(32 * (4 if result_kind == "f16" else 8), np.uint32)
    made = module("quads", ROOT / "tests" / "data").get_function(name).launched((1,), (32,), (words.reshape(-1), out))
    expected = (a @ b.transpose(0, 2, 1) + c)[elements(result_kind)]
    return made, np.ascontiguousarray(expected.astype(np.float16 if result_kind == "f16" else np.float32)).view(
        np.uint32
    )


@pytest.mark.every
@pytest.mark.parametrize("name", CASES)
def test_lanes_have_the_elements_of_four_products(name):
    """In program order."""
    made, expected = case(name)
    assert (result(walk(made).memory, made, 2, np.uint32) == expected.reshape(-1)).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_wait_for_each_step(engine):
    """On an RTX 2080 Ti with the control codes of the compiler."""
    made, expected = case("f32_f32")
    ran = run_sm(made, load("rtx2080ti", {"chip.sms": 1}), engine=engine)
    assert (result(ran.memory, made, 2, np.uint32) == expected.reshape(-1)).all()
