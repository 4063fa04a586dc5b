"""Textbook kernels, as an H200 ran them: what their arrays hold, and what was counted of them."""

import numpy as np
import pytest

from benchmarks.memory import textbook
from benchmarks.memory.textbook import Array, Fill, Launch, Outcome
from gpusim.machine.machine import load
from isa.memory import bases, view

MASK = (1 << 64) - 1
NONE = {"l2_reduction_sectors": 0.0}


def of(kernel: str, size: str) -> Launch:
    """Return the launch of that kernel and size."""
    (found,) = (one for one in textbook.launches() if (one.kernel, one.size) == (kernel, size))
    return found


def hashed(index: int, seed: int) -> int:
    """Return the 32 bits of SplitMix64 of an index, in whole numbers."""
    z = index + seed + 0x9E3779B97F4A7C15 & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return (z ^ z >> 31) & 0xFFFFFFFF


def test_each_kernel_was_measured_small_and_in_a_full_grid():
    """There are 72 kernels, each in two sizes, with cycles, instructions and shares of stall reasons."""
    found = textbook.launches()
    assert len(found) == 144
    assert {one.kernel for one in found if one.size == "small"} == {one.kernel for one in found if one.size == "full"}
    assert all(one.cycles > 0 and one.counters["instructions"] > 0 for one in found)
    assert all(abs(sum(one.stalls.values()) - 1) < 1e-9 for one in found)


@pytest.mark.parametrize(("kind", "below"), [("u", 0), ("f", 0), ("d", 0), ("m", 10)])
def test_arrays_hold_what_the_program_wrote(kind, below):
    """An element is the program's hash of its first word's index, as bits, as a real number, or a remainder."""
    index = np.array([0, 1, 77, 1 << 20])
    words = [hashed(int(i) * (2 if kind == "d" else 1), 3) for i in index]
    wanted = {"u": words, "m": [word % 10 for word in words]}.get(kind, [word / 2**31 - 1 for word in words])
    found = Fill(Array(kind, 1 << 22, below), 3)(index)
    assert found.tolist() == (np.float32(wanted).tolist() if kind == "f" else wanted)


def test_rows_of_a_sparse_matrix_begin_where_those_before_end():
    """The first elements of rows are sums of the hashed lengths before, and the last one fits the arrays."""
    launch = of("spmv_scalar", "small")
    first = textbook.kernel(launch).buffers[0]
    assert first.fill
    found = first.fill(np.arange(5)).tolist()
    assert found == [sum(hashed(j, 1) % 33 for j in range(i)) for i in range(5)]
    assert first.fill(np.array([first.elements - 1]))[0] <= launch.arrays[1].words


def test_a_launch_computes_what_its_source_says():
    """A transpose on one simulated SM leaves each element of its blocks in its place."""
    launched = textbook.kernel(of("transpose_padded", "small"))
    run = textbook.run_sm(launched, load("h200", textbook.WARM))
    first, last, *_ = launched.buffers
    at = 32 * (run.first_sm // 11), 32 * (run.first_sm % 11)  # of its block in the matrix that is read
    found = view(run.memory, last, bases(launched.buffers)[last.name]).view(np.float32).reshape(352, 384)
    assert first.fill
    wanted = first.fill(np.arange(352 * 384)).reshape(384, 352).T
    here = np.s_[at[1] : at[1] + 32, at[0] : at[0] + 32]
    assert np.array_equal(found[here], wanted[here])
    assert np.count_nonzero(found) == 32 * 32


def test_counters_and_shares_are_compared_in_percent():
    """Errors are of what was simulated over what was measured; next to nothing is not compared."""
    counters = {"cycles": 200.0, "l1_loaded_sectors": 1e5, "l1_stored_sectors": 0, "l2_read_sectors": 5e4, **NONE}
    launch = Launch(
        "k", "g", "full", "s", 0, (1, 1), (1, 1), (), (), counters | {"dram_read_bytes": 31e3}, {"wait": 1.0}
    )
    done = Outcome(launch, 150, {"wait": 0.5, "barrier": 0.5}, {"l2_read_sectors": 6e4, "dram_read_bytes": 9.0}, 0)
    assert (done.error, done.difference) == (-25, 50)
    assert done.off("l2_read_sectors") == pytest.approx(20)
    assert done.off("dram_read_bytes") is None
