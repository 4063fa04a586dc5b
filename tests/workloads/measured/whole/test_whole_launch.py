import pickle
from functools import cache

import numpy as np
import pytest
from draws import few
from interpreter.interpret import interpret

from gpusim.engines.simulate import run_sm
from gpusim.engines.walks.profile import profile
from gpusim.machine.machine import load
from gpusim.simulation.verify import compare
from isa import memory
from workloads.measured.whole import clocks, tables
from workloads.measured.whole.launch import kernel

SMS = 132
KERNELS = list(tables.compiled())
FEW = few(KERNELS, 5)
WARM = load("h200", {"cache.hits": "tags", "l2.filled": "1"})
# Guards that differ between blocks: bitonic's stores exchange keys that are not in order; transpose_nopad adds one to
# the quotient of block and tiles in a row where the estimate is too low, as it is for multiples.
OF_BLOCK = {"bitonic": [35, 36], "transpose_nopad": [24, 25]}


@cache
def solo(name):
    """Return a kernel with one block, and what the interpreter makes of it."""
    found = kernel(name, "solo")
    return found, interpret(found)


def check_values(launched, words, blocks):
    """Fail unless these blocks left all that is expected of them in memory."""
    for block in blocks:
        expectation = launched.expected(block)
        assert len(expectation.index)
        assert compare(launched, words, expectation).right.all(), (launched.name, block)


def check_threads(name, active, blocks):
    """Fail unless so many blocks executed instructions in as many threads as ncu counted, if guards are the same."""
    differs = np.isin(np.arange(len(active)), OF_BLOCK.get(name, []) if blocks > 1 else [])
    np.testing.assert_array_equal(active[~differs], blocks * tables.executed(name).threads_solo[~differs])


def clock_records(launched, words):
    """The words of the clock records in memory, a row for each block."""
    buffer = next(b for b in launched.buffers if b.name == clocks.NAME)
    found = memory.view(words, buffer, memory.bases(launched.buffers)[buffer.name])
    return found.reshape(launched.blocks, -1)


@pytest.mark.parametrize("name", FEW)
def test_a_block_computes_what_is_expected(name):
    """In program order, a block alone leaves the right results, and each warp's record has the block's number."""
    launched, run = solo(name)
    check_values(launched, run.memory, [0])
    assert all(compare(launched, run.memory, each).right.all() for each in launched.outcome())


@pytest.mark.parametrize("name", FEW)
def test_instructions_execute_as_often_as_ncu_counted(name):
    """Each instruction of a block executes in as many warps, and with a true guard in as many threads, as on the H200.

    This holds for guards that depend on data, too: the numbers in the buffers are those of the timed launch.
    """
    _, run = solo(name)
    counted = tables.executed(name)
    assert run.counts.tolist() == counted.warps_solo.tolist()
    assert run.active.tolist() == counted.threads_solo.tolist()


@pytest.mark.parametrize("configuration", ["persm", "resident"])
@pytest.mark.parametrize("name", few(KERNELS, 4))
@pytest.mark.long
def test_blocks_of_a_grid_compute_what_is_expected(name, configuration):
    """The first, a middle and the last block of a grid leave their results, and execute what a block alone does."""
    launched = kernel(name, configuration)
    blocks = [0, launched.blocks // 3, launched.blocks - 1]
    run = interpret(launched, blocks)
    check_values(launched, run.memory, blocks)
    counted = tables.executed(name)
    np.testing.assert_array_equal(run.counts, len(blocks) * counted.warps_solo)
    check_threads(name, run.active, len(blocks))
    written = clock_records(launched, run.memory)
    assert (written[blocks, 5::6] == np.array(blocks)[:, None]).all()


@pytest.mark.parametrize("name", few(KERNELS, 3))
@pytest.mark.long
def test_blocks_of_a_full_grid_execute_what_ncu_counted(name):
    """The instructions of a block of a whole problem, times the blocks, are those that ncu counted in all of it."""
    launched = kernel(name, "full")
    found = profile(launched, launched.blocks // 2)
    assert (launched.blocks * found.counts).tolist() == tables.executed(name).warps_full.tolist()


def check_sm(launched, run):
    """Fail unless an SM left the right results of its blocks, and executed what ncu counted, in warps and threads."""
    counted, blocks = tables.executed(launched.name), range(run.first_sm, launched.blocks, SMS)
    assert run.blocks == len(blocks)
    check_values(launched, run.memory, blocks)
    of_code = slice(len(launched.program))  # the last number is of warps that run off the end
    np.testing.assert_array_equal(run.issued[of_code], run.blocks * counted.warps_solo)
    check_threads(launched.name, run.active[of_code], run.blocks)
    cycles = clocks.cycles(clock_records(launched, run.memory)[blocks], launched.warps)
    assert (cycles > 0).all()
    assert (cycles <= run.cycles).all()


@pytest.mark.parametrize("name", few(KERNELS, 2))
@pytest.mark.jit
def test_both_engines_leave_the_same_bits(name):
    """The engine that keeps time leaves the interpreter's bits in every buffer but the clocks', and ncu's counts."""
    launched, truth = solo(name)
    run = run_sm(launched, WARM)
    check_sm(launched, run)
    bases = memory.bases(launched.buffers)
    for buffer in launched.buffers:
        if buffer.name != clocks.NAME:
            one, other = (memory.view(words, buffer, bases[buffer.name]) for words in (run.memory, truth.memory))
            np.testing.assert_array_equal(one.view(np.uint32), other.view(np.uint32))


@pytest.mark.parametrize("name", few(KERNELS, 3))
@pytest.mark.parametrize("configuration", ["persm", "resident"])
@pytest.mark.jit
@pytest.mark.long
def test_an_sm_computes_what_is_expected(name, configuration):
    """An SM of the H200 leaves the right results of its blocks; their clocks lie within the run."""
    launched = kernel(name, configuration)
    check_sm(launched, run_sm(launched, WARM))


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.slow
def test_every_block_on_every_sm_computes_what_is_expected(name):
    """With a block on each SM, all blocks leave their results, and each executes what a block alone does."""
    launched = kernel(name, "persm")
    run = interpret(launched)
    check_values(launched, run.memory, range(launched.blocks))
    np.testing.assert_array_equal(run.counts, launched.blocks * tables.executed(name).warps_solo)
    assert all(compare(launched, run.memory, each).right.all() for each in launched.outcome())


def test_a_launch_says_what_it_is():
    """A kernel bears its name, configuration and inner size; the operations are those of the whole grid."""
    found = kernel("sgemm_tile16", "solo", 64)
    assert (found.name, found.blocks, found.threads, str(found.target)) == ("sgemm_tile16", 1, 256, "sm_90")
    assert found.arguments == {"configuration": "solo", "k": 64}
    assert found.flops == 2 * 16 * 16 * 64
    assert kernel("saxpy", "resident").arguments == {"configuration": "resident"}


@pytest.mark.parametrize("name", FEW)
def test_kernels_cross_processes(name):
    """A kernel is the same after a pickle, with the results that it promises."""
    launched = kernel(name, "persm")
    back = pickle.loads(pickle.dumps(launched))
    assert back.program == launched.program
    assert [b.name for b in back.buffers] == [b.name for b in launched.buffers]
    for one, other in zip(
        (*launched.outcome(), launched.expected(5)), (*back.outcome(), back.expected(5)), strict=True
    ):
        assert one.buffer == other.buffer
        for field in ("index", "value", "bound"):
            np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
