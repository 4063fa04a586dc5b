"""Kernels of many kinds compute what an H200 computed, all bits of all arrays.

No function of values was written with these results in sight; `half_result` of `[bypass]` was read off one's codes.
"""

import shutil

import numpy as np
import pytest
from draws import few
from idioms import DATA, LAUNCHES, chip, code
from interpreter.interpret import interpret

import gpusim
from isa import memory
from isa.nvidia.compiler import tools

needs_nvcc = pytest.mark.skipif(
    not (tools.installed("nvcc") and shutil.which("g++")), reason="nvcc (extra cuda) or g++ is not installed"
)


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """The cubin as a module."""
    path = tmp_path_factory.mktemp("idioms") / "idioms.cubin"
    path.write_bytes(code())
    return gpusim.RawModule(path=path)


def different(name, arrays):
    """Return the arguments that differ from what the chip left, or that it left alone, by their places."""
    before = LAUNCHES[name].values()
    wanted = [chip().get(f"{name}.{place}", argument) for place, argument in enumerate(before)]
    return [i for i, (one, other) in enumerate(zip(arrays, wanted, strict=True)) if one.tobytes() != other.tobytes()]


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("name", list(LAUNCHES))
def test_kernels_leave_what_the_chip_left(module, name):
    """All SMs, and the interpreter without time, leave every array as an H200 does."""
    launch = LAUNCHES[name]
    arrays = launch.values()
    run = module.get_function(name)(launch.grid, launch.block, arrays, shared_mem=launch.shared, sms="all")
    assert different(name, arrays) == []
    words = interpret(run.kernel).memory
    bases = memory.bases(run.kernel.buffers)
    own = [memory.view(words, b, bases[b.name]).tobytes() for b in run.kernel.buffers if b.name.startswith("argument")]
    assert own == [array.tobytes() for array in arrays if array.ndim]


@pytest.mark.long
@needs_nvcc
@pytest.mark.parametrize("architecture", [100, 120])
def test_kernels_for_later_architectures_leave_what_the_chip_left(architecture):
    """Compiled for an architecture that no machine has, the kernels leave every array as an H200 does."""
    module = gpusim.RawModule(path=DATA / "idioms.cu", architecture=architecture)
    for name in few(list(LAUNCHES), 8):
        launch, arrays = LAUNCHES[name], LAUNCHES[name].values()
        kernel = module.get_function(name).launched(launch.grid, launch.block, arrays, shared_mem=launch.shared)
        words, bases = interpret(kernel).memory, memory.bases(kernel.buffers)
        left = [memory.view(words, b, bases[b.name]) for b in kernel.buffers if b.name.startswith("argument")]
        places = [i for i, array in enumerate(arrays) if array.ndim]
        assert different(name, [dict(zip(places, left, strict=True)).get(i, x) for i, x in enumerate(arrays)]) == []


def test_a_difference_is_found():
    """One bit of an array that differs is reported."""
    arrays = [chip().get(f"sums.{place}", argument) for place, argument in enumerate(LAUNCHES["sums"].values())]
    assert different("sums", arrays) == []
    changed = arrays[2].view(np.uint32).copy()
    changed[5] ^= 1
    assert different("sums", [*arrays[:2], changed, arrays[3]]) == [2]
