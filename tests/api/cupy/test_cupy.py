"""CuPy's kernels as its users write them, on a simulated card, against NumPy."""

import copy
import shutil

import numpy as np
import pytest

import gpusim
from gpusim import cupy as cp
from gpusim.api.card.active import current
from isa.errors import ExecutionError, UserError
from isa.nvidia.compiler import tools

needs_compiler = pytest.mark.skipif(
    not (tools.installed("nvcc") and tools.installed("nvdisasm") and shutil.which("g++")),
    reason="nvcc (extra cuda), nvdisasm or g++ is not installed",
)
SQUARED = "float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)", "squared_diff"
HISTOGRAM = r"""
extern "C" __global__ void histogram(const unsigned char *data, unsigned int *bins, int n) {
    __shared__ unsigned int own[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) own[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[data[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], own[b]);
}
"""
TEMPLATE = r"""
__constant__ float factor;
template <typename T, int N> __global__ void scaled(T *x, int n) {
    extern __shared__ char bytes[];
    T *held = reinterpret_cast<T *>(bytes);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    held[threadIdx.x] = i < n ? x[i] : T(0);
    __syncthreads();
    if (i < n) x[i] = held[threadIdx.x] * N * T(factor);
}
"""


def numbers(*shape, dtype=np.float32):
    """Return numbers of CuPy's kind that all differ."""
    return (cp.arange(np.prod(shape)).reshape(shape) / 7 - 3).astype(dtype)


def integers(x, y):
    """Add a number to each element of an array of whole numbers."""
    return cp.ElementwiseKernel("int32 x, int32 y", "int32 z", "z = x + y")(x, y)


@pytest.mark.jit
@needs_compiler
def test_a_raw_kernel():
    """A kernel with shared memory and atomics leaves its result in the array; the launch and its time are on record."""
    data = cp.asarray(np.random.default_rng(1).integers(0, 256, 10_000, dtype=np.uint8))
    bins = cp.zeros(256, dtype=cp.uint32)
    histogram = cp.RawKernel(HISTOGRAM, "histogram")
    with cp.active("a100") as card:
        result = histogram((16,), (128,), (data, bins, data.size))
    assert np.array_equal(cp.asnumpy(bins), np.bincount(data, minlength=256))
    (launch,) = card.launches
    assert (launch.kernel, launch.grid, launch.threads) == ("histogram", (16, 1, 1), 128)
    assert result.machine.key == "a100"
    assert card.milliseconds == launch.milliseconds > 0
    assert histogram((0,), (128,), (data, bins, data.size)) is None


@pytest.mark.jit
@needs_compiler
def test_a_raw_module():
    """An instance of a template is got by its expression; variables have memory, and dynamic shared memory is given."""
    names = ["scaled<float, 2>", "scaled<double, 3>"]
    module = cp.RawModule(code=TEMPLATE, options=("-std=c++14",), name_expressions=names)
    module.get_global("factor", np.float32)[:] = 10
    for name, dtype, times in zip(names, (cp.float32, cp.float64), (2, 3), strict=True):
        x = cp.arange(100, dtype=dtype)
        kernel = module.get_function(name)
        kernel((2, 1), (64,), (x, np.int32(90)), shared_mem=64 * x.itemsize)
        assert np.array_equal(x, np.where(np.arange(100) < 90, 10 * times, 1) * np.arange(100))
        assert kernel.num_regs == kernel.attributes["num_regs"] > 0


@pytest.mark.jit
@needs_compiler
@pytest.mark.parametrize("shapes", [((3, 5), (5,)), ((64,), ()), ((2, 1, 4), (3, 1)), ((0, 4), (4,))])
def test_an_element_wise_kernel_broadcasts(shapes):
    """Arrays of all shapes that go together are broadcast; new outputs have their shape."""
    x, y = (numbers(*shape) for shape in shapes)
    z = cp.ElementwiseKernel(*SQUARED)(x, y)
    assert isinstance(z, cp.ndarray)
    assert np.array_equal(z, (x - y) * (x - y))
    assert z.shape == np.broadcast_shapes(*shapes)


@pytest.mark.jit
@pytest.mark.long
@needs_compiler
def test_types_and_views():
    """A letter is the arrays' type, to which numbers are converted; views keep their strides, given outputs theirs."""
    kernel = cp.ElementwiseKernel("T x, T y", "T z, S w", "T t = x - y; z = t * t; w = i + n", "generic")
    for dtype in (np.float64, np.int32, np.uint8, np.float16):
        x, w = numbers(6, 8, dtype=np.float32).astype(dtype)[::2, ::-3], cp.zeros((3, 3), np.int64, order="F")
        z, same = kernel(x, 3, cp.empty_like(x), w)
        assert same is w
        assert (z.dtype, z.tolist()) == (dtype, ((x - dtype(3)) * (x - dtype(3))).tolist())
        assert w.tolist() == (np.arange(9).reshape(3, 3) + 9).tolist()


@pytest.mark.jit
@needs_compiler
def test_raw_arguments():
    """What is raw is indexed by hand, in order or by axes; a size stands in for arrays; all of the text is there."""
    add = cp.ElementwiseKernel("T x, raw T y", "T z", "z = x + y[_ind.size() - i - 1]", "add_reverse")
    assert np.array_equal(add(cp.arange(10.0), cp.arange(20.0)[::2]), np.arange(10.0) + np.arange(20.0)[::2][::-1])
    transpose = cp.ElementwiseKernel(
        "raw T x, int32 rows",
        "raw T y",
        "ptrdiff_t at[] = {i % rows, i / rows}; y[i] = twice(x[at]) + x.shape()[1] + bonus",
        "transposed",
        preamble="template <typename A> __device__ A twice(A a) { return a + a; }",
        loop_prep="const int bonus = 1",
        no_return=True,
        options=("-DUNUSED",),
    )
    x, y = numbers(3, 4, dtype=np.float64)[:, ::-1], cp.zeros(12)
    assert transpose(x, 3, y, size=12) is None
    assert np.array_equal(y, (2 * x + 5).T.ravel())


@pytest.mark.jit
@needs_compiler
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), ()])
def test_a_reduction(axis):
    """The norm over any axes is NumPy's, with the axes kept or not, and in an output that is given."""
    norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
    x = numbers(5, 70, 3, dtype=np.float64)
    expected = np.sqrt((np.asarray(x) ** 2).sum(axis))
    assert np.allclose(norm(x, axis=axis), expected, rtol=1e-14, atol=0)
    kept = norm(x, axis=axis, keepdims=True)
    assert kept.shape == (np.asarray(x) ** 2).sum(axis, keepdims=True).shape
    out = cp.zeros(expected.shape)
    assert norm(x, out=out, axis=axis) is out
    assert np.array_equal(out, kept.reshape(out.shape))


@pytest.mark.jit
@pytest.mark.long
@needs_compiler
def test_reductions_of_another_type():
    """Without an identity the first element begins; the reduced type, raw inputs, views and preambles are as asked."""
    x = numbers(40, 33)[:, ::2].T
    largest = cp.ReductionKernel("T x", "T y", "x", "a > b ? a : b", "y = a", None, "largest")
    assert np.array_equal(largest(x, axis=0), x.max(0))
    weighted = cp.ReductionKernel(
        "T x, raw float64 w", "int64 y", "x * w[_in_ind.get()[0]]", "plus(a, b)", "y = a * 8", "0",
        reduce_type="float64", reduce_dims=False,
        preamble="__device__ double plus(double a, double b) { return a + b; }",
    )  # fmt: skip
    w = numbers(17, dtype=np.float64)
    assert weighted(x, w).tolist() == int((np.float64(x) * np.asarray(w)[:, None]).sum() * 8)
    assert weighted(x[:, :0], w, axis=1).tolist() == [0] * 17


@pytest.mark.jit
@needs_compiler
def test_times_of_events():
    """Two events are as far apart as the launches between them; without an active card it is an H200."""
    begin, end = cp.cuda.Event(), cp.cuda.Event()
    with cp.cuda.Device(0) as device, cp.cuda.Stream(non_blocking=True) as stream:
        begin.record(stream)
        cp.ElementwiseKernel(*SQUARED)(numbers(1000), 1)
        end = stream.record()
    end.synchronize()
    assert cp.cuda.get_elapsed_time(begin, end) == pytest.approx(current().launches[-1].milliseconds)
    assert device.compute_capability == "90"
    assert device.attributes["MultiProcessorCount"] == 132
    assert cp.cuda.get_current_stream() is cp.cuda.Stream.null


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cp.ElementwiseKernel(*SQUARED)(numbers(3, dtype=np.float64), 1), "x: an array of float64, where its"),
        (lambda: cp.ElementwiseKernel(*SQUARED)(numbers(3)), "squared_diff: 1 arguments; give 2, or 3 with the"),
        (lambda: cp.ElementwiseKernel(*SQUARED)(1, 2), "squared_diff: nothing says how many elements; give size="),
        (lambda: cp.ElementwiseKernel(*SQUARED)(numbers(3), 2, size=3), "size=3 is for arrays that are all raw"),
        (lambda: cp.ElementwiseKernel(*SQUARED)(numbers(3), numbers(4)), r"shapes \(3,\), \(4,\) can't be broadcast"),
        (lambda: cp.ElementwiseKernel(*SQUARED)(numbers(3), 1, numbers(4)), "can't be broadcast"),
        (lambda: cp.ElementwiseKernel(*SQUARED)(numbers(3), 1, numbers(1)), r"z: an output of shape \(1,\)"),
        (lambda: cp.ElementwiseKernel(*SQUARED)(numbers(3), [1]), "y: list; give an array or a number"),
        (lambda: integers(numbers(3, dtype=np.int32), 2**40), "y: 1099511627776, where it is int32: .*; give another"),
        (lambda: integers(numbers(3, dtype=np.int32), np.int64(2**40)), "y: 1099511627776, where it is int32: .*"),
        (lambda: integers(numbers(3, dtype=np.int32), np.nan), "y: nan, where it is int32: .*; give another number"),
        (lambda: integers(numbers(3, dtype=np.int32), np.float64("nan")), "y: nan, where it is int32: .*"),
        (lambda: cp.ElementwiseKernel(*SQUARED)(numbers(3), 2, block_size=0), "block_size=0: give a whole number, 1"),
        (lambda: cp.ElementwiseKernel(*SQUARED)(numbers(3), 2, block_size=2.5), r"block_size=2\.5: give a whole"),
        (lambda: cp.ElementwiseKernel("raw T x", "raw T y", "")(numbers(3), numbers(3), size=-1), "size=-1: give a"),
        (lambda: cp.ElementwiseKernel("T x", "S y", "y = x")(numbers(3)), "y: no array says what S is"),
        (lambda: cp.ElementwiseKernel("T x, T y", "T z", "")(numbers(3), cp.arange(3)), "x: an array of float32, wh"),
        (lambda: cp.ElementwiseKernel("T x", "T i", "i = x"), "parameter 'T i': write a type and a name"),
        (lambda: cp.ElementwiseKernel("foo x", "T y", "y = x"), "parameter 'foo x': foo is no type of NumPy"),
        (lambda: cp.ElementwiseKernel("complex64 x", "T y", "y = x"), "complex64: .* CuPy's own header"),
        (lambda: cp.ElementwiseKernel("T x", "T y", "y = x", "a b"), "name 'a b': give one of letters"),
        (lambda: cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a")(numbers(3), axis=1), "axis=1; give axes of 1"),
        (lambda: cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a")(numbers(3), axis=1.5), r"axis=1\.5; give"),
        (lambda: cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a")(numbers(3), axis="x"), "axis='x'; give whole"),
        (lambda: cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a")(numbers(0)), "nothing to reduce, and no"),
        (lambda: cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a")(3), "nothing says how many elements"),
        (lambda: cp.RawKernel("#include <cupy/complex.cuh>\n", "k"), "#include <cupy/complex.cuh>: a header of CuPy's"),
        (lambda: cp.RawModule(code="", jitify=True), "translate_cucomplex and jitify need headers of CuPy's own"),
        (lambda: cp.RawKernel(HISTOGRAM, "histogram")((1, 1, 1, 1), 1), r"grid=\(1, 1, 1, 1\): 4 sizes; give x"),
        (lambda: cp.RawKernel(HISTOGRAM, "histogram")(1, 2.7), r"block=2\.7: give one to three whole numbers"),
        (lambda: cp.active("gtx580"), "gtx580"),
    ],
)  # fmt: skip
@needs_compiler
def test_refusals(call, message):
    """What does not fit is refused in one line that says what to give."""
    with pytest.raises(UserError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


@needs_compiler
def test_errors_of_the_compiler():
    """An error in an operation is told by the line of the generated text, and a kernel that isn't there by its name."""
    with pytest.raises(UserError, match=r'source\.cu:\d+:\d+: identifier "foo" is undefined'):
        cp.ElementwiseKernel("T x", "T y", "y = foo(x)")(numbers(3))
    with pytest.raises(UserError, match="no kernel sum; it has histogram"):
        cp.RawKernel(HISTOGRAM, "sum")((1,), (1,), ())


def test_other_names_are_numpys():
    """Functions give arrays of CuPy's kind, results of all kinds among them; what neither has is refused by name."""
    x = cp.asarray(np.arange(4.0))
    assert all(isinstance(one, cp.ndarray) for one in (x, x[1:], x + 1, x.sum(), cp.exp(x), cp.linalg.norm(x)))
    assert all(isinstance(one, cp.ndarray) for one in (*cp.meshgrid(x, x), cp.random.rand(3), cp.array([1])))
    assert (float(x.sum()), x.sum().shape) == (6.0, ())
    host = x.get()
    assert type(host) is np.ndarray
    host[:] = 0
    assert x.tolist() == [0, 1, 2, 3]
    x.set(host)
    assert x.tolist() == [0] * 4
    assert np.shares_memory(cp.asarray(x), x)
    assert not np.shares_memory(cp.asarray(host), host)
    assert cp.get_array_module(x) is gpusim.cupy
    assert cp.get_array_module(host) is np
    with pytest.raises(AttributeError, match=r"gpusim\.cupy has no fuse: it has CuPy's kernels, and what NumPy has"):
        cp.fuse  # noqa: B018


def test_functions_keep_their_methods():
    """Methods and attributes of NumPy's functions are there, and arrays of methods are of CuPy's kind."""
    x = cp.array([[1.0, 5.0], [4.0, 2.0]])
    found = cp.add.reduce(x, axis=0), cp.maximum.accumulate(x, axis=1), cp.multiply.outer(x[0], x[1])
    assert all(isinstance(one, cp.ndarray) for one in found)
    assert [one.tolist() for one in found] == [[5, 7], [[1, 5], [4, 4]], [[4, 2], [20, 10]]]
    assert (cp.add.nin, cp.add.__name__, copy.copy(cp.add)(1, 2)) == (2, "add", 3)


def test_copies_of_arrays():
    """Without `copy` an array of this kind shares its memory where the type stays; one of the host is copied."""
    x, host = cp.arange(4.0), np.arange(4.0)
    assert np.shares_memory(cp.array(x, copy=False), x)
    assert cp.array(x, copy=False, ndmin=2).shape == (1, 4)
    others = cp.array(x), cp.array(x, np.float32, copy=False), cp.array(host, copy=False)
    assert not any(np.shares_memory(one, x) or np.shares_memory(one, host) for one in others)


@pytest.mark.jit
@pytest.mark.long
@needs_compiler
def test_cards_inside_each_other():
    """A card inside another one takes the launches; after it the first one does, in the code of its architecture."""
    kernel = cp.ElementwiseKernel(*SQUARED)
    with cp.active("a100") as outer:
        with cp.active("h200") as inner:
            kernel(numbers(10), 1)
        kernel(numbers(10), 1)
    assert [one.machine.key for one in (inner.results[0], outer.results[0])] == ["h200", "a100"]
    assert (len(inner.launches), len(outer.launches)) == (1, 1)


@pytest.mark.jit
@pytest.mark.long
@needs_compiler
def test_a_grid_synchronises():
    """A kernel of a source that asks for cooperative groups waits for the whole grid."""
    text = r"""
#include <cooperative_groups.h>
extern "C" __global__ void shifted(int *x) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    x[i] += 1;
    cooperative_groups::this_grid().sync();
    const int next = x[(i + blockDim.x) % n];
    cooperative_groups::this_grid().sync();
    x[i] = next;
}
"""
    x = cp.arange(64, dtype=np.int32)
    cp.RawKernel(text, "shifted", enable_cooperative_groups=True)((2,), (32,), (x,))
    assert np.array_equal(x, (np.arange(64) + 32) % 64 + 1)


@needs_compiler
def test_faults_name_the_parameter():
    """An access behind an array, the last one, tells the array by its parameter's name."""
    kernel = cp.ElementwiseKernel("T x", "raw T table", "table[i + 1000000] = x", "beyond")
    with pytest.raises(ExecutionError, match="lie in no buffer; the nearest is table at"):
        kernel(numbers(3), numbers(4))
