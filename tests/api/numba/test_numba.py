"""Numba's CUDA kernels as its users write them, on a simulated card, against NumPy."""

import importlib
import math
import subprocess
import sys
from enum import IntEnum

import numpy as np
import pytest

pytest.importorskip("numba_cuda")

import numba
import numba.cuda as theirs
from gpusim.numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32
from numba import float32

import gpusim
from gpusim.api.card.active import current
from gpusim.numba import cuda
from isa.errors import UserError
from isa.nvidia.compiler import tools

pytestmark = [
    pytest.mark.jit,
    pytest.mark.skipif(
        not (tools.installed("ptxas") and tools.installed("nvdisasm")), reason="ptxas or nvdisasm is not installed"
    ),
]
TILE = 16
TABLE = np.arange(10, dtype=np.float64) * 2


class Way(IntEnum):
    """Two numbers with names."""

    UP = 1
    DOWN = 2


@cuda.jit(device=True)
def clamped(value, low, high):
    """A function that kernels call."""
    return min(max(value, low), high)


@theirs.jit(device=True)
def twice(value):
    """Another one, of Numba's own decorator."""
    return clamped_by_one(value) * 2


@numba.njit
def clamped_by_one(value):
    """One for the host as well."""
    if value > 1:
        return 1
    return value


@cuda.jit
def saxpy(n, a, x, y):
    """A vector times a number, added to another one."""
    i = cuda.grid(1)
    if i < n:
        y[i] = clamped(a * x[i] + y[i], -1e3, 1e3)


@cuda.jit
def product(a, b, c):
    """A matrix product by tiles in shared memory."""
    x, y = cuda.grid(2)
    held_a = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    held_b = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for tile in range((a.shape[1] + TILE - 1) // TILE):
        held_a[ty, tx] = a[y, tx + tile * TILE] if y < a.shape[0] and tx + tile * TILE < a.shape[1] else 0
        held_b[ty, tx] = b[ty + tile * TILE, x] if x < b.shape[1] and ty + tile * TILE < b.shape[0] else 0
        cuda.syncthreads()
        for k in range(TILE):
            total += held_a[ty, k] * held_b[k, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


@cuda.jit
def total(x, out):
    """A sum by warps and an atomic."""
    i = cuda.grid(1)
    value = x[i] if i < x.size else 0
    for distance in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, distance)
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)
        cuda.atomic.max(out, 1, value)


@cuda.jit
def constants(x):
    """Constant, local and dynamic shared memory."""
    table, own = cuda.const.array_like(TABLE), cuda.local.array(4, numba.int32)
    i = cuda.grid(1)
    for k in range(4):
        own[k] = k * i
    held = cuda.shared.array(0, numba.float64)
    held[cuda.threadIdx.x] = table[i % 10] + own[i % 4]
    cuda.syncthreads()
    x[i] = held[cuda.blockDim.x - 1 - cuda.threadIdx.x]


@cuda.jit
def functions(x, y):
    """Functions of libdevice and NumPy, and a function inside this one."""

    def doubled(value):
        return value * 2

    i = cuda.grid(1)
    if i < x.size:
        y[i] = doubled(math.erf(x[i])) + np.sin(x[i]) + math.pow(x[i], 2.5) + twice(x[i])


@cuda.jit
def of_all_kinds(numbers, complex_number, flag, records, way, half, out, scale=2):
    """Arguments of all kinds that take several parameters, or one of another size."""
    out[0] = numbers[0] + numbers[1][1]
    out[1] = complex_number.real * 10 + complex_number.imag
    out[2] = 1 if flag else 0
    out[3] = records[0].count + records[1].weight
    out[4] = way.value
    out[5] = half * scale


@cuda.jit
def estimate(states, rounds, out):
    """The number pi by random points."""
    thread, inside = cuda.grid(1), 0
    for _ in range(rounds):
        x, y = xoroshiro128p_uniform_float32(states, thread), xoroshiro128p_uniform_float32(states, thread)
        if x * x + y * y <= 1:
            inside += 1
    out[thread] = 4 * inside / rounds


def test_a_kernel_on_arrays_of_numpy():
    """Results are in the arrays, the launch under the function's name on record, and its lines those of this file."""
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    with gpusim.numba.active("a100") as card:
        result = saxpy[8, 128](900, 2.0, x, y)
    assert np.array_equal(y, np.where(np.arange(1000) < 900, np.minimum(2 * x + 1, 1000), 1))
    (launch,) = card.launches
    assert (launch.kernel, launch.grid, launch.threads) == ("saxpy", (8, 1, 1), 128)
    assert card.milliseconds == launch.milliseconds > 0
    assert result.machine.key == "a100"
    assert "i = cuda.grid(1)" in {line["text"] for line in result.lines}


def test_shared_memory_and_arrays_of_the_device():
    """A tiled product is NumPy's; arrays go to the device and back as Numba's do."""
    a, b = (np.random.default_rng(1).random(shape, np.float32) for shape in ((40, 30), (30, 50)))
    c = cuda.device_array((40, 50), np.float32)
    product[(4, 3), (TILE, TILE)](cuda.to_device(a), cuda.to_device(b), c)
    assert np.allclose(c.copy_to_host(), a @ b, rtol=1e-5)


@pytest.mark.long
def test_warps_and_atomics():
    """Shuffles and atomics of one launch sum all; `forall` chooses the blocks."""
    x, out = np.arange(300, dtype=np.int32), np.zeros(2, np.int32)
    total.forall(x.size)(x, out)
    assert out.tolist() == [x.sum(), x[256:288].sum()]


@pytest.mark.long
def test_constant_local_and_dynamic_shared_memory():
    """The bytes of the configuration are those of an array of no size; constants are those when it was compiled."""
    x, i = np.zeros(32), np.arange(32)
    constants[1, 32, 0, 32 * 8](x)
    assert np.array_equal(x, (TABLE[i % 10] + (i % 4) * i)[::-1])


@pytest.mark.long
def test_functions_in_a_kernel():
    """Functions of math and NumPy, of the host, of Numba's decorator and inside the kernel are all there."""
    x, y = np.linspace(0.1, 3, 50), np.zeros(50)
    functions[2, 32](x, y)
    expected = 2 * np.array([math.erf(one) for one in x]) + np.sin(x) + x**2.5 + 2 * np.minimum(x, 1)
    assert np.allclose(y, expected, rtol=1e-13)


@pytest.mark.long
def test_arguments_of_all_kinds():
    """Tuples, complex numbers, bools, records, enumerations, halves and defaults are passed as Numba passes them."""
    records = np.array([(1, 2.5), (3, 4.5)], np.dtype([("count", "i4"), ("weight", "f8")], align=True))
    out = np.zeros(6)
    of_all_kinds[1, 1]((7, (8, 9)), 1 + 2j, True, records, Way.DOWN, np.float32(0.5), out)
    assert out.tolist() == [16, 12, 1, 5.5, 2, 1]


@pytest.mark.long
def test_views_and_signatures():
    """Strides are the array's own; with a signature numbers become its types, and other arrays are refused."""
    signed = cuda.jit("void(float32[:, :], int32)")(shift)
    x = np.zeros((4, 6), np.float32)
    signed[(1, 1), (8, 8)](x[::-1, ::2], 3.0)
    assert x.tolist() == [[3, 0, 3, 0, 3, 0]] * 4
    shifted = cuda.jit([(numba.float64[:, ::1], numba.int64), (numba.float32[:, :], numba.int64)], fastmath=True)(shift)
    shifted[1, (8, 8)](x.T, 1)
    assert x[0].tolist() == [4, 1, 4, 1, 4, 1]
    with pytest.raises(UserError, match=r"shift: \(array\(float64, 2d, C\), int64\), where its signature has"):
        signed[1, 1](np.zeros((4, 6)), 3)


def shift(x, n):
    """Add a number to each element."""
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        x[i, j] += n


@pytest.mark.long
def test_random_numbers():
    """States are made by the host; the kernel draws from them as Numba's does."""
    out = np.zeros(128, np.float32)
    estimate[2, 64](create_xoroshiro128p_states(128, seed=1), 100, out)
    assert abs(out.mean() - math.pi) < 0.05
    assert len(set(out.tolist())) > 5


@pytest.mark.long
def test_a_kernel_of_numbas_own_decorator():
    """What Numba's own `jit` was put before is run by `gpusim.numba.kernel`, with its options; so are functions."""

    @theirs.jit(fastmath=True)
    def roots(x):
        i = theirs.grid(1)
        if i < x.size:
            theirs.atomic.add(x, 0, math.sqrt(float(i)))

    x = np.zeros(4)
    gpusim.numba.kernel(roots)[1, 32](x)
    assert x[0] == pytest.approx(sum(map(math.sqrt, range(4))))
    assert gpusim.numba.kernel(roots).options["fastmath"]
    assert gpusim.numba.kernel(saxpy) is saxpy
    assert gpusim.numba.kernel(shift).function(np.zeros((1, 1)), 1).num_regs > 0
    with pytest.raises(UserError, match="int: no kernel; give a function"):
        gpusim.numba.kernel(3)


def test_the_devices_side_of_a_program():
    """Events have simulated time; streams, contexts and properties are there; In changes nothing, InOut does."""
    x = np.ones((2, 2))
    begin, end, stream = cuda.event(), cuda.event(timing=True), cuda.stream()
    with stream.auto_synchronize() as same, cuda.pinned(x), cuda.defer_cleanup():
        begin.record(same)
        kernel = cuda.jit(shift)
        kernel[1, (2, 2), stream](cuda.In(x), 1)
        kernel[1, (2, 2), stream](cuda.InOut(x), 1)
        end.record(same)
    cuda.synchronize()
    assert x.tolist() == [[2, 2], [2, 2]]
    both = sum(one.milliseconds for one in current().launches[-2:])
    assert cuda.event_elapsed_time(begin, end) == pytest.approx(both)
    assert cuda.get_current_device().compute_capability == (9, 0)
    assert cuda.is_available()
    assert kernel[0, 1](x, 1) is None


def test_arrays_of_the_device():
    """Copies are copies, views are views."""
    x = np.arange(6.0).reshape(2, 3)
    device = cuda.to_device(x)
    x[:] = 0
    assert device.copy_to_host().tolist() == [[0, 1, 2], [3, 4, 5]]
    device[1:].copy_to_device(np.array([[7, 8, 9]]))
    assert device.copy_to_host(x) is x
    assert x[1].tolist() == [7, 8, 9]
    assert cuda.to_device(np.zeros((2, 3)), to=device) is device
    assert not device.any()
    assert (cuda.is_cuda_array(device), cuda.is_cuda_array(x)) == (True, False)
    assert (device.is_c_contiguous(), device.T.is_f_contiguous(), device.alloc_size) == (True, True, 48)
    assert np.shares_memory(cuda.as_cuda_array(x), x)
    assert cuda.device_array(4, np.int8, strides=(1,)).shape == cuda.device_array_like(np.zeros(4)).shape == (4,)
    with cuda.mapped(x) as view:
        assert np.shares_memory(view, x)


def undefined(x):
    """A kernel with a name that is none."""
    x[0] = no_such_thing  # noqa: F821


@cuda.jit(device=True)
def factorial(n):
    """A function that calls itself."""
    return 1 if n <= 1 else n * factorial(n - 1)


def recursive(x):
    """A kernel that calls it."""
    x[0] = factorial(5)


def beyond(x):
    """A kernel that stores far behind an array."""
    x[cuda.grid(1) + 100_000] = 1


def grouped(x):
    """A kernel whose grid waits for all of it."""
    cuda.cg.this_grid().sync()
    x[0] = 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: saxpy(1), r"saxpy: no sizes; give grid and block, as in saxpy\[blocks, threads\]"),
        (lambda: saxpy[1](1), r"saxpy\[1\]: give grid and block"),
        (lambda: saxpy[1, "a"](1), "block='a': give one to three whole numbers"),
        (lambda: saxpy[2.7, 1](1), r"grid=2\.7: give one to three whole numbers"),
        (lambda: saxpy[(1, 1, 1, 1), 1](1), r"grid=\(1, 1, 1, 1\): 4 sizes; give x"),
        (lambda: saxpy[1, 1](1, 2), "saxpy: missing a required argument: 'x'"),
        (lambda: saxpy[1, 1](1, "a", TABLE, TABLE), "a: an argument of type unicode_type; give arrays, numbers"),
        (lambda: saxpy[1, 1](1, object(), TABLE, TABLE), "saxpy: .*; give arrays and numbers"),
        (lambda: clamped[1, 1](1, 2, 3), "clamped: a device function; call it from a kernel"),
        (lambda: clamped(1, 2, 3), "clamped: a device function; call it from a kernel"),
        (lambda: cuda.jit(undefined)[1, 1](TABLE), r"test_numba\.py:\d+: undefined: .*'no_such_thing' is not defined"),
        (lambda: cuda.jit(recursive)[1, 1](TABLE), "factorial: it calls itself, and can't be put in line; write a"),
        (lambda: cuda.jit(beyond)[1, 1](TABLE), r"test_numba\.py:\d+\), block 0.* the nearest is x at"),
        (lambda: cuda.jit(grouped)[1, 1](TABLE), r"test_numba\.py:\d+: grouped: it calls what Numba compiles on a GPU"),
        (lambda: cuda.jit(link=["a.cu"]), "link: no option of kernels here; leave it out"),
        (lambda: cuda.jit("void(float32)")(shift)[1, 1](1e300, 2), "where its signature has"),
        (
            lambda: cuda.jit("void(float64[:,:], uint8)")(shift)[1, 1](np.zeros((1, 1)), 300),
            "n: 300, where the sig",
        ),
        (lambda: cuda.reduce, r"cuda\.reduce: launches kernels, or needs a driver, of Numba's own"),
    ],
)
def test_refusals(call, message):
    """What can't be launched is refused in one line that names it, and says what to do."""
    with pytest.raises(UserError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_names_of_modules():
    """`gpusim.numba` and `gpusim.cupy` are imported as such, and are what the attributes are."""
    assert importlib.import_module("gpusim.numba") is gpusim.numba
    assert importlib.import_module("gpusim.numba.cuda") is cuda is gpusim.numba.cuda
    assert importlib.import_module("gpusim.cupy") is gpusim.cupy
    assert cuda.grid is theirs.grid


@pytest.mark.long
def test_without_the_package():
    """Where numba-cuda is missing the extra that has it is named, at the first launch."""
    program = (
        "import sys; sys.modules['numba_cuda'] = None; from gpusim.numba import cuda; cuda.jit(lambda x: None)[1, 1](1)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "numba_cuda is not installed; run pip install 'gpusim[numba]'" in done.stderr
