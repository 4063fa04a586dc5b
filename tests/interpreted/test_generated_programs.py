"""Generated CUDA programs that call functions and collectives in divergent code, without optimization.

Their results are those of a lane emulation of the same text (tests/measured/generated; nvcc 13, `-G` or `-Xptxas -O0`).
"""

import lzma

import numpy as np
import pytest
from interpreter.interpret import interpret
from read.fenced import ROOT

import gpusim
from gpusim.api import raw_arguments
from gpusim.engines.walks.program_order import walk
from isa.nvidia.compiler import tools

WHERE = ROOT / "tests" / "measured" / "generated"
PARAMETERS = np.dtype(
    [("a", "u4"), ("b", "i4"), ("d", "f8"), ("f", "f4"), ("c", "u1", 5), ("h", "u2"), ("q", "u8"), ("q32", "u4")],
    align=True,
)
PASS_WARPSYNC = "k5003_80", "k5003_90"  # lanes leave a region without BREAK, and wait at WARPSYNC
PASS_COLLECTIVE = "k28032_90", pytest.param("k22013_90", marks=pytest.mark.long)  # likewise, for a collective
MEET_AT_EXCLUSIVE = ("k22023_80",)  # lanes come apart to WARPSYNC.EXCLUSIVE, and execute REDUX together


KERNELS = "k5003", "k21002", "k22002", "k22013", "k22023", "k24019", "k25004", "k28032"
ARCHITECTURES = 75, 80, 86, 89, 90
LEVELS = (), ("-G",), ("-Xptxas", "-O0"), ("-Xptxas", "-O1")


@pytest.mark.parametrize("name", [*PASS_WARPSYNC, *PASS_COLLECTIVE, *MEET_AT_EXCLUSIVE])
def test_every_word_is_that_of_the_lane_emulation(name, tmp_path):
    """The interpreter comes to the end, and leaves the words of the emulation in all three arrays."""
    path = tmp_path / f"{name}.cubin"
    path.write_bytes(lzma.decompress((WHERE / f"{name}.cubin.xz").read_bytes()))
    assert wrong_words(gpusim.RawModule(path=path), name.split("_")[0], lambda one: interpret(one).memory) == [0, 0, 0]


@pytest.mark.slow
@pytest.mark.jit
@pytest.mark.skipif(tools.installed("nvcc") is None, reason="nvcc is not installed")
@pytest.mark.parametrize("options", LEVELS, ids=" ".join)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_level_of_every_architecture_leaves_the_same_words(kernel, architecture, options):
    """Compiled for any architecture at any level, blocks in program order come to the end with the right words."""
    flags = ("-w", "-fmad=false", *options)
    module = gpusim.RawModule(path=WHERE / f"{kernel}.cu", options=flags, architecture=architecture)
    assert wrong_words(module, kernel, lambda one: walk(one).memory) == [0, 0, 0]


def wrong_words(module, kernel, run):
    """How many words of each array are not those of the emulation, after `run` has made memory of the launch."""
    given = np.load(WHERE / f"{kernel}.npz")
    grid, *block = given["shape"].tolist()
    threads = grid * block[0] * block[1]
    out, gathered = np.zeros(len(given["out"]), np.uint32), np.arange(16, dtype=np.uint32) * 0x01010101
    private = np.arange(threads * 8, dtype=np.uint32) * 7 + 3
    private[6::8] = 0x42280000
    arguments = (given["x"].copy(), out, gathered, private, given["s"].view(PARAMETERS)[0])
    function = module.get_function(kernel)
    launched = function.launched((grid,), tuple(block), arguments)
    function._keep(launched, raw_arguments.regions(arguments, function._variables), run(launched))
    left = {"out": out, "gat": gathered, "priv": private}
    return [int((words != given[one]).sum()) for one, words in left.items()]
