"""Rare forms of nvcc's code have the values of C: quotients by constants, complex halves, assertions, destructors.

From the cubins of tests/isa/sass/data/edges.cu; the compiled engine and the interpreter leave the same.
"""

from pathlib import Path

import numpy as np
import pytest
from interpreter.interpret import interpret

import gpusim
from isa import memory
from isa.errors import ExecutionError

FOLDER = Path(__file__).with_name("isa") / "sass" / "data"
MACHINES = {90: "h200", 80: "a100"}  # by architecture
LANES = 32

pytestmark = pytest.mark.jit


@pytest.fixture(params=MACHINES)
def kernels(request):
    """A function that runs one block of a kernel, compiled and by the interpreter, and leaves the arrays."""
    module = gpusim.RawModule(path=FOLDER / f"edges_{request.param}.cubin")

    def run(name, *arguments, threads=LANES, shared=0):
        arrays = [one for one in arguments if isinstance(one, np.ndarray)]
        function, machine = module.get_function(name), MACHINES[request.param]
        done = function((1,), (threads,), arguments, machine=machine, shared_mem=shared)
        words, bases = interpret(done.kernel).memory, memory.bases(done.kernel.buffers)
        own = [one for one in done.kernel.buffers if one.name.startswith("argument")]
        assert [memory.view(words, x, bases[x.name]).tobytes() for x in own] == [x.tobytes() for x in arrays]

    return run


def test_quotients_by_constants_are_those_of_c(kernels):
    """A double by 100 and 1 by 10 are rounded once; the logarithm of 0 is minus infinity, of infinity infinity."""
    x = np.concatenate([[0, np.inf, 1, -1], np.geomspace(1e-300, 1e300, LANES - 4)])
    o = np.zeros((3, LANES))
    kernels("quotients", x, o, np.int32(LANES))
    with np.errstate(all="ignore"):
        assert np.array_equal(o[0], x / 100)
        assert np.array_equal(o[1], 1 / (x * 0 + 10), equal_nan=True)
        assert np.allclose(o[2], np.log(x), rtol=1e-15, atol=0, equal_nan=True)


def test_complex_halves_are_multiplied_and_added(kernels):
    """The sum a * b + a of complex numbers whose parts are small whole numbers is exact."""
    generator = np.random.default_rng(1)
    a, b = (generator.integers(-9, 10, (LANES, 2)).astype(np.float16) for _ in "ab")
    o = np.zeros((LANES, 2), np.float16)
    kernels("products", a, b, o)
    x, y = (one.astype(float) @ [1, 1j] for one in (a, b))
    assert np.array_equal(o.astype(float) @ [1, 1j], x * y + x)


def test_an_assertion_that_holds_does_nothing(kernels):
    """Values below the limit are copied."""
    a, o = np.arange(LANES, dtype=np.int32), np.zeros(LANES, np.int32)
    kernels("limited", a, o, np.int32(LANES))
    assert np.array_equal(a, o)


def test_an_assertion_that_fails_is_an_error_with_its_line(kernels):
    """Lane 30 is the first whose value is not below the limit; the message has its line of source."""
    a, o = np.arange(LANES, dtype=np.int32), np.zeros(LANES, np.int32)
    call = r"CALL.ABS.NOINC R\d+ `\(__assertfail\) \(edges.cu:19\)"
    with pytest.raises(ExecutionError, match=f"{call}.* lane 30: an assertion fails"):
        kernels("limited", a, o, np.int32(30))


def test_virtual_destructors_don_t_stop_a_kernel(kernels):
    """Code has a deleting destructor for each class, which calls free; a kernel that deletes nothing runs."""
    a = np.arange(LANES, dtype=np.float32)
    o = a.copy()
    kernels("areas", o)
    assert np.array_equal(o, np.where(np.arange(LANES) % 3 % 2, 2 * a, a * a))


def test_what_is_deleted_is_an_error(kernels):
    """A kernel that frees what malloc has not given stops there, and the message names the lane."""
    kernels("removed", np.zeros(LANES, np.float32))
    with pytest.raises(ExecutionError, match="lane 6: the kernel traps"):
        kernels("removed", np.arange(LANES, dtype=np.float32))


def test_tiles_of_several_warps_meet_in_memory_of_the_system(kernels):
    """Cooperative groups of 64 threads hand on values, and wait with YIELD, in memory that no kernel declares."""
    a, o = np.arange(128, dtype=np.int32), np.zeros(128, np.int32)
    kernels("tiles", a, o, threads=128)
    assert np.array_equal(o, np.repeat([45 + 5000, 64 + 45 + 1000], 64))


@pytest.mark.parametrize("dynamic", [0, 512])
def test_what_the_system_keeps_is_not_the_kernel_s(kernels, dynamic):
    """%total_smem_size is the launch's dynamic shared memory where a kernel declares none (H100)."""
    o = np.full(2, 7, np.uint32)
    kernels("sizes", o, threads=1, shared=dynamic)
    assert o.tolist() == [dynamic, dynamic]


def test_a_pointer_may_be_to_a_constant_variable(kernels):
    """Even lanes read a __constant__ table by a pointer, odd ones an array."""
    g, o = np.arange(100, 108, dtype=np.float32), np.zeros(LANES, np.float32)
    kernels("picks", g, o)
    lanes = np.arange(LANES)
    assert np.array_equal(o, np.where(lanes % 2, 100, 0) + lanes // 4)


def test_recursion_of_unknown_depth_has_the_usual_stack():
    """Code for debuggers says no size of a stack that recursion fills: it is the launch's, 1024 bytes."""
    o = np.zeros(8, np.int32)
    module = gpusim.RawModule(path=FOLDER / "recursive_debug.cubin")
    done = module.get_function("sums")((1,), (8,), (o,))
    assert done.kernel.program.local_bytes == 1024
    assert np.array_equal(o, np.arange(8) * np.arange(1, 9))
