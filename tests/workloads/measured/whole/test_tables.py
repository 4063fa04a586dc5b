import shutil
from pathlib import Path

import pytest

from isa.errors import UserError
from isa.nvidia.compiler import tools
from isa.nvidia.compiler.compile import compile_file
from isa.nvidia.file import cubin
from workloads.measured.whole import tables
from workloads.measured.whole.others import OTHERS
from workloads.measured.whole.products import PRODUCTS

SMS = 132
KERNELS = list(tables.compiled())
SOURCE = Path(tables.__file__).with_name("kernels.cu")
COMPILER = "V13.0.88"


def has_compiler():
    """Whether the compiler that made the timed code is installed, and a host compiler."""
    return bool(tools.installed("nvcc") and shutil.which("g++") and COMPILER in tools.version("nvcc"))


def test_every_kernel_has_code_and_a_task():
    """The tables, the cubin and the tasks have the same kernels, and each kernel the resources that were reported."""
    functions = tables.machine_code().cubin.functions
    assert {one.symbol for one in tables.compiled().values()} == {f.name for f in functions.values() if f.launch}
    assert set(KERNELS) == set(PRODUCTS) | set(OTHERS)
    for one in tables.compiled().values():
        found = functions[one.symbol]
        kept = 1024 if one.shared_bytes else 0
        assert (found.registers, found.shared_bytes) == (one.registers, one.shared_bytes + kept)
        assert found.launch.most_threads == one.threads


@pytest.mark.skipif(not has_compiler(), reason=f"nvcc {COMPILER} (extra cuda) or g++ is not installed")
@pytest.mark.long
def test_the_source_gives_the_machine_code():
    """Compiled anew, each kernel of kernels.cu has the very instructions and control codes of the stored cubin."""
    made = cubin.read(compile_file(SOURCE, 90, ["-w", "-std=c++17", "-O3"]), SOURCE.name)
    kept = tables.machine_code().cubin
    assert {name: f.code for name, f in made.functions.items()} == {name: f.code for name, f in kept.functions.items()}


@pytest.mark.parametrize("kernel", KERNELS)
def test_launches_of_a_kernel(kernel):
    """One block, one on each SM, as many as fit on each SM, and a full grid; products of several inner sizes alone."""
    found = [one for one in tables.timed() if one.kernel == kernel]
    sizes = [64, 128, 256, 512] if kernel in PRODUCTS else [0]
    shapes = [(one.configuration, one.k) for one in found]
    assert shapes[: len(sizes)] == [("solo", k) for k in sizes]
    k, full = (256, 1024) if kernel in PRODUCTS else (0, 0)
    assert shapes[len(sizes) :] == [("persm", k), ("resident", k), ("full", full)]
    blocks = [one.blocks for one in found[len(sizes) - 1 :]]
    assert blocks[:3] == [1, SMS, SMS * tables.compiled()[kernel].blocks_per_sm]
    assert blocks[3] > blocks[2]
    assert all(one.least <= one.block_cycles <= one.most <= 1.2 * one.least for one in found)
    assert all(one.sm_cycles >= one.block_cycles for one in found)


@pytest.mark.parametrize("kernel", KERNELS)
def test_executed_instructions(kernel):
    """There is a count for each instruction; each warp of each block executes the first, and no guard adds threads."""
    found = tables.executed(kernel)
    section = tables.machine_code().sections[tables.compiled()[kernel].symbol]
    warps = tables.compiled()[kernel].threads // 32
    assert len(found.warps_solo) == len(found.threads_solo) == len(found.warps_full) == len(section.instructions)
    assert found.warps_solo[0] == warps
    assert found.warps_full[0] == warps * tables.launch(kernel, "full").blocks
    assert (found.threads_solo <= 32 * found.warps_solo).all()


def test_a_product_of_several_sizes_is_that_which_was_counted():
    """Without a size, a product is that with 256, with which ncu counted."""
    assert tables.launch("sgemm_tile16", "solo").k == tables.COUNTED_K
    assert tables.launch("sgemm_tile16", "solo", 64).block_cycles == 2688
    assert tables.launch("sgemm_tile16", "full").k == 1024
    assert tables.launch("saxpy", "solo").k == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("saxpi", "solo"), "saxpi is no timed kernel; there are sgemm_naive_u4, "),
        (("saxpy", "alone"), "alone is no timed configuration of saxpy; there are solo, persm, resident, full"),
        (("saxpy", "solo", 3), "3 is no timed k of saxpy in solo; there are 0"),
        (("sgemm_tile16", "persm", 64), "64 is no timed k of sgemm_tile16 in persm; there are 256"),
    ],
)
def test_a_launch_that_was_not_timed(given, words):
    """Another kernel, configuration or size is refused in one line with those that there are."""
    with pytest.raises(UserError, match=f"^{words}"):
        tables.launch(*given)
