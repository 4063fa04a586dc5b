"""The first line of the diagnosis of textbook kernels, each with one well-known cause of its speed.

What is expected first is what one who knows Nsight Compute says of the kernel: data/textbook.cu, compiled by nvcc 13.0.
"""

import lzma
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from draws import few

import gpusim
from gpusim.analysis.account.findings.advice import ADVICE, IN_SOURCE
from gpusim.analysis.account.findings.diagnosis import diagnosis
from gpusim.analysis.account.memory.tables import tables
from gpusim.analysis.account.rates.memory_rates import memory_rates

DATA = Path(__file__).with_name("data")
SIDE = 2112  # of the matrices
RANDOM = np.random.default_rng(1)


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """Return the textbook's machine code."""
    path = tmp_path_factory.mktemp("textbook") / "textbook.cubin"
    path.write_bytes(lzma.decompress((DATA / "textbook_90.cubin.xz").read_bytes()))
    return gpusim.RawModule(path=path)


def reals(*shape):
    """Return random numbers from 0 to 1."""
    return RANDOM.random(shape, np.float32)


def whole(*shape, below=1 << 31):
    """Return random whole numbers."""
    return RANDOM.integers(0, below, shape, np.int32)


def zeros(*shape, dtype=np.float32):
    """Return where a kernel stores."""
    return np.zeros(shape, dtype)


def square():
    """Return a matrix, and where its transpose goes."""
    return reals(SIDE, SIDE), zeros(SIDE, SIDE)


def polynomial(blocks, threads):
    """Return the arguments of so many threads."""
    return reals(threads), zeros(blocks * threads)


TILES = (66, 66), (32, 8)
WIDE = (1056,), (256,)
CASES = {
    "transpose_naive": (*TILES, square, "scattered accesses", "lanes lie apart", "8 times the sectors"),
    "transpose_tile": (*TILES, square, "bank conflicts", "32-way bank conflicts", "(textbook.cu:18)"),
    "transpose_padded": (*TILES, square, "L2", "", "L2 "),
    "softmax": (
        (1056,),
        (32, 8),
        lambda: (reals(8448, 512), zeros(8448, 512)),
        "issue slots",
        "issue slots 7",
        "% busy",
    ),
    "convolve": (
        *(
            (66, 264),
            (32, 8),
            lambda: (whole(SIDE, SIDE, below=256).astype(np.uint8), zeros(SIDE, SIDE, dtype=np.int32)),
        ),
        *("pipe alu", "pipe alu (", "mostly at"),
    ),
    "columns": ((528,), (256,), lambda: (zeros(528 * 256 * 64),), "scattered accesses", "lanes lie apart", "8 times"),
    "sum_global": (
        *(*WIDE, lambda: (reals(1056 * 256), zeros(1))),
        *("atomics of the L2", "atomics follow each other in the L2 for 100 % of the time", "while no SM has a warp"),
    ),
    "tickets": (
        *(*WIDE, lambda: (zeros(1, dtype=np.uint32), zeros(1056 * 256, dtype=np.uint32))),
        *("atomics of the L2", "atomics follow each other in the L2 for 9", "% of the time"),
    ),
    "sum_shared": (
        *((132,), (256,), lambda: (reals(132 * 256 * 4), zeros(132))),
        *("serialised atomics", "lanes update one word in shared memory", "try again"),
    ),
    "count_all": (*WIDE, lambda: (zeros(1056, dtype=np.int32),), "load/store unit", "load/store unit 9", "% busy"),
    "spill": ((264,), (1024,), lambda: (reals(4096), zeros(264 * 1024)), "local memory", "local memory: 608 bytes", ""),
    "lookup": (
        *((132,), (256,), lambda: (whole(132 * 256), zeros(132 * 256))),
        *("constants apart", "lanes read constants apart", "words in each access, one after the other"),
    ),
    "axpy": (
        *((132 * 62,), (256,), lambda: (np.float32(2), reals(132 * 62 * 1024), reals(132 * 62 * 1024))),
        *("DRAM", "at the roof: DRAM 9", "% busy"),
    ),
}


@pytest.fixture(scope="module")
def findings(module):
    """Return what finds the causes of a case, once each."""

    @cache
    def of_case(name):
        grid, block, arguments, *_ = CASES[name]
        return diagnosis(module.get_function(name)(grid, block, arguments()))

    return of_case


def first(module, name, grid, block, arguments):
    """Return the first finding of a launch."""
    return diagnosis(module.get_function(name)(grid, block, arguments))[0]


@pytest.mark.long
@pytest.mark.every
@pytest.mark.jit
@pytest.mark.parametrize("name", CASES)
def test_the_cause_is_told_first(findings, name):
    """Of each kernel its cause comes first, with what is known of it: conflicts, lanes apart, one word, a busy unit."""
    *_, limit, begin, part = CASES[name]
    one = findings(name)[0]
    assert (one.limit, one.sure) == (limit, "counted")
    assert one.what.startswith(begin)
    assert part in one.what


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize(
    ("blocks", "threads", "limit", "begin"),
    few(
        [
            (1056, 256, "pipe lite heavy", "at the roof: pipe lite heavy (fp32"),
            (265, 1024, "grid", "tail: the last of 2 waves has 1 block of 264, and SMs idle at the end"),
            (16, 256, "grid", "16 blocks for 132 SMs: the others idle"),
        ],
        3,
    ),
)
def test_the_size_of_the_launch_is_told_before_the_roof(module, blocks, threads, limit, begin):
    """A polynomial at the peak of single precision is done; with a tail wave, or far too few blocks, it is not."""
    one = first(module, "polynomial", (blocks,), (threads,), polynomial(blocks, threads))
    assert one.limit == limit
    assert one.what.startswith(begin)
    assert ("done" in one.remedy) == (limit != "grid")


@pytest.mark.jit
def test_few_warps_are_too_few(module):
    """One block of two warps on each SM: these wait for results, and two schedulers have none."""
    one = first(module, "chain", (132,), (64,), (reals(64), zeros(132 * 64)))
    assert one.limit == "warps"
    assert one.what.startswith("the launch is too small: an SM has 2 of 64 warps")


@pytest.mark.long
@pytest.mark.jit
def test_what_is_told_is_for_an_author_of_cuda(findings):
    """No finding of machine code speaks of registers that the next instructions should write, or of their banks."""
    of_listings = {ADVICE[reason].remedy for reason in IN_SOURCE}
    for name in few(["columns", "convolve", "spill"], 1):
        assert not of_listings & {one.remedy for one in findings(name)}


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("caches", ["cold", "warm"])
def test_a_softmax_moves_no_more_than_each_level_can(module, caches):
    """Rows of a softmax, cold and in the L2: run, tables and roofs have one rate for each level, at most its peak."""
    given = reals(8448, 512), zeros(8448, 512)
    result = module.get_function("softmax")((1056,), (32, 8), given, caches=caches)
    rates = {one.level: one for one in memory_rates(result)}
    assert 0 < rates["L2"].percent <= 100
    assert (30 if caches == "cold" else 0) <= rates.get("DRAM", rates["L2"]).percent <= 100
    shown = next((one for one in tables(result).dram if one.operation == "Total"), None)
    assert shown.percent == pytest.approx(rates["DRAM"].percent if "DRAM" in rates else 0)
