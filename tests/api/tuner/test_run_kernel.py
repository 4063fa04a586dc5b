"""One instance of a kernel, run for its values."""

import numpy as np
import pytest
from space_files import needs_compiler

import gpusim.api.kernel_tuner as ours
from isa.errors import UserError

pytestmark = [pytest.mark.jit, needs_compiler, pytest.mark.usefixtures("card")]
SIZE = 500
SCALED = """
__constant__ float by[1];
extern "C" __global__ void scaled(float *y, const float *x, int n) {
  extern __shared__ float kept[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  kept[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) y[i] = by[0] * kept[blockDim.x - 1 - threadIdx.x];
}
"""


def ran(params, source=SCALED, **named):
    """Run the kernel on whole numbers; return what `run_kernel` does, and its arguments."""
    given = [np.zeros(SIZE, np.float32), np.arange(SIZE, dtype=np.float32), np.int32(SIZE)]
    found = ours.run_kernel("scaled", source, SIZE, given, params, cmem_args={"by": np.float32([3])}, **named)
    return found, given


@pytest.mark.long
def test_it_returns_the_arguments_after_the_launch():
    """Results are in new arrays: constants, dynamic shared memory and the grid are those of the instance."""
    found, given = ran({"threads": 50}, block_size_names=["threads"], smem_args={"size": lambda p: 4 * p["threads"]})
    turned = given[1].reshape(-1, 50)[:, ::-1].reshape(-1)
    assert np.array_equal(found[0], 3 * turned)
    assert np.array_equal(found[1], given[1])
    assert found[2] == SIZE
    assert not given[0].any()


@pytest.mark.long
def test_a_kernel_as_a_function():
    """Kernel Tuner's PythonKernel copies its inputs at each call, and returns its outputs."""
    from kernel_tuner.kernelbuilder import PythonKernel  # noqa: PLC0415  (an extra)

    source = 'extern "C" __global__ void add(int *y, const int *x, int a) { y[threadIdx.x] += x[threadIdx.x] + a; }'
    zeros, numbers = np.zeros(32, np.int32), np.arange(32, dtype=np.int32)
    given = [zeros, numbers, np.int32(5)]
    kernel = PythonKernel(
        "add", source, 32, given, {"block_size_x": 32}, inputs=[True] * 3, outputs=[True, False, False]
    )
    for a in 5, 7:
        (found,) = kernel(zeros, numbers, np.int32(a))
        assert np.array_equal(found, numbers + a)
    assert not zeros.any()


@pytest.mark.long
def test_arrays_of_cupy_are_on_the_card():
    """A kernel's stores to an array of gpusim.cupy are there after the call."""
    import cupy  # noqa: PLC0415  (ours)

    source, y = 'extern "C" __global__ void f(int *y) { y[threadIdx.x] = threadIdx.x; }', cupy.zeros(32, cupy.int32)
    ours.run_kernel("f", source, 32, [y], {"block_size_x": 32}, lang="cupy", quiet=True)
    assert np.array_equal(y, np.arange(32))


@pytest.mark.parametrize(
    ("params", "named", "message"),
    [
        ({"block_size_x": 2048}, {}, "run_kernel: {'block_size_x': 2048}: more than the 1024 threads"),
        ({"block_size_x": 64}, {"smem_args": {"size": 1 << 20}}, "a block of it doesn't fit an SM"),
        ({"block_size_x": 64}, {"texmem_args": {"t": 1}}, "texmem_args: t: CUDA 12 has no texture references"),
        ({"block_size_x": 64}, {"lang": "Julia"}, "lang=JULIA: the simulated card runs"),
    ],
)
def test_what_it_refuses(params, named, message):
    """An instance that the card can't launch is refused in one line, and so is what the card lacks."""
    with pytest.raises(UserError, match=message):
        ran(params, **named)
