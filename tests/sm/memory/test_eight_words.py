"""Loads and stores of 256 bits, in two vectors of four registers: compiled code, of sm_120, which no chip here has."""

from dataclasses import replace

import numpy as np
import pytest
from read.fenced import ROOT
from warpgroup_code import module, result

from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.engines.walks.program_order import walk
from gpusim.machine.machine import load


def launched():
    """Return the launch and the words that it leaves: turned round, as they were, and among zeros."""
    words = np.arange(1, 513, dtype=np.uint32)
    code = module("eight_words_120", ROOT / "tests" / "data").get_function("eight")
    last = words[256:264]
    ends = [np.zeros(4, np.uint32), last, np.zeros(4, np.uint32)]
    expected = np.concatenate([words[:256].reshape(32, 8)[:, ::-1].reshape(-1), words[256:], *ends])
    return code.launched((1,), (32,), (words, np.zeros(528, np.uint32))), expected


def test_each_register_has_its_word():
    """A load's upper registers stand first in the text, a store's second; RZ stands for four zeros."""
    made, expected = launched()
    assert (result(walk(made).memory, made, 2, np.uint32) == expected).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_move_them_too(engine):
    """On a machine that is forced to run it, the words are the same."""
    made, expected = launched()
    ran = run_sm(replace(made, any_machine=True), load("h200", {"chip.sms": 1}), engine=engine)
    assert (result(ran.memory, made, 2, np.uint32) == expected).all()
