"""A recursive function as nvcc compiles it, whose lanes call each other's instances and return from them apart."""

import lzma

import numpy as np
import pytest
from interpreter.interpret import interpret
from read.fenced import ROOT

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load as load_machine
from isa import memory
from isa.generators import ArrayFill
from isa.kernel import Buffer, Kernel
from isa.nvidia.abi import load
from isa.nvidia.abi.launch import LaunchState, pointer
from isa.nvidia.file import cubin, dump
from isa.nvidia.file.code import Code

LANES = 32
SEEDS = 0, 3, 25, 29, 32, 36  # in all but the first, barriers lose lanes for which others wait
CODE = ROOT / "tests" / "data"


def kernel(seed: int) -> Kernel:
    """Return a launch of one warp that evaluates the Ackermann function in each lane at a random place."""
    binary, text = (lzma.decompress((CODE / f"ackermann.{kind}.xz").read_bytes()) for kind in ("cubin", "sass"))
    found = Code(90, dump.read(text.decode(), "ackermann").sections, cubin.read(binary, "ackermann"))
    drawn = np.random.default_rng(seed).integers(0, (3, 4), (LANES, 2), np.int32)
    m, n = (Buffer(name, "<i4", LANES, ArrayFill(drawn[:, i].copy())) for i, name in enumerate("mn"))
    buffers = (m, n, Buffer("found", "<i4", LANES))
    arguments = load.arguments(found, "evaluate", [pointer(buffers, buffer.name) for buffer in buffers])
    return load.kernel(found, LaunchState("evaluate", (1, 1, 1), (LANES, 1, 1), 0, arguments, buffers))


def values(launched: Kernel, words: np.ndarray, name: str) -> np.ndarray:
    """Return a buffer of a run as integers."""
    first = memory.bases(launched.buffers)[name] // 4
    return words[first : first + LANES].view(np.int32)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_ackermann_function_comes_to_an_end_in_each_lane(seed):
    """A(m, n) is n + 1, n + 2, 2 n + 3 for m = 0, 1, 2, in the interpreter."""
    launched = kernel(seed)
    words = interpret(launched).memory
    m, n, found = (values(launched, words, name) for name in ("m", "n", "found"))
    assert np.array_equal(found, np.choose(m, (n + 1, n + 2, 2 * n + 3)))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_engine_executes_it_as_the_interpreter_does(seed):
    """The engine leaves the same memory, and issues as many warp instructions."""
    launched = kernel(seed)
    expected, found = interpret(launched), run_sm(launched, load_machine("h200"))
    assert np.array_equal(found.memory, expected.memory)
    assert found.warp_instructions == expected.counts.sum()
