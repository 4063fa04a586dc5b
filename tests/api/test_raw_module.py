"""Modules of machine code called with arrays; the programs are replaced by ones in text, which name buffers."""

import gc
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from draws import few
from lowered import SCALE, stand_in

import gpusim
from gpusim.analysis.account import answer
from gpusim.machine.machine import load
from isa import memory
from isa.errors import ExecutionError, UserError
from isa.nvidia.compiler import tools

needs_nvcc = pytest.mark.skipif(
    not (tools.installed("nvcc") and shutil.which("g++")), reason="nvcc (extra cuda) or g++ is not installed"
)
DATA = Path(__file__).parent.with_name("isa") / "sass" / "data"
PLAIN = SCALE.replace("c[x]", "c[argument1]")  # doubles the elements of the first argument, a thread for each
REST = (np.int32(1), np.int8(2), np.float64(3))


@pytest.fixture
def module(monkeypatch):
    """A module for sm_90 whose kernels double the elements of their first argument."""
    stand_in(monkeypatch, PLAIN)
    return gpusim.RawModule(path=DATA / "sm_90.cubin")


@pytest.fixture
def flip(module):
    """Its kernel with a pointer, an int, a char and a double."""
    return module.get_function("flip")


def numbers(count):
    """Return so many numbers."""
    return np.arange(count, dtype=np.float32)


@pytest.mark.jit
@pytest.mark.parametrize("sms", few([1, "all"], 1))
def test_results_are_left_in_the_arrays(flip, sms):
    """All elements are doubled, those of blocks of other SMs too; the result is that of a simulation."""
    x = numbers(200 * 32)
    result = flip((200,), (32,), (x, *REST), sms=sms)
    assert x.tolist() == (2 * numbers(200 * 32)).tolist()
    assert (result.kernel.name, result.machine.key, result.run.sms) == ("flip", "h200", 132 if sms == "all" else 1)
    assert result.cycles > 0


@pytest.mark.jit
def test_a_call_has_the_views_of_any_result(flip):
    """What a call returns shows its screen in a notebook, has its tables, and can be pickled and kept."""
    result = flip((2,), (32,), (numbers(64), *REST))
    assert isinstance(result, gpusim.Result)
    assert result.settings == {"l2.filled": 1}
    assert "flip on h200 " in result._repr_html_()
    kept = pickle.loads(pickle.dumps(result))
    assert kept.to_dict() == result.to_dict()
    assert len(kept.hotspots) == len(result.hotspots) > 0
    with pytest.raises(UserError, match=r"raise max_cycles$"):
        flip((2,), (32,), (numbers(64), *REST), max_cycles=3)


@pytest.mark.jit
@needs_nvcc
def test_a_text_has_its_lines(monkeypatch):
    """The lines of a text of CUDA C have its text, though it is in no file."""
    monkeypatch.setattr(answer, "LIBRARIES", ())
    text = 'extern "C" __global__ void twice(float *x) {\n  x[threadIdx.x] *= 2;\n}\n'
    x = numbers(32)
    found = gpusim.RawModule(text).get_function("twice")((1,), (32,), (x,)).lines
    assert x.tolist() == (2 * numbers(32)).tolist()
    assert {one["text"] for one in found if one["line"] == 2} == {"x[threadIdx.x] *= 2;"}


@pytest.mark.jit
def test_one_sm_alone(flip):
    """Unless complete, only the blocks of the first SM run: 0 and 132 of 200."""
    x = numbers(200 * 32)
    flip((200,), (32,), (x, *REST), complete=False)
    doubled = np.flatnonzero(x != numbers(200 * 32)) // 32
    assert sorted(set(doubled.tolist())) == [0, 132]


@pytest.mark.jit
def test_only_time(flip):
    """Without values the time is the same, and arrays stay as they were."""
    x = numbers(64)
    timed = flip((2,), (32,), (x, *REST), values=False)
    assert x.tolist() == numbers(64).tolist()
    assert flip((2,), (32,), (x, *REST)).cycles == timed.cycles


@pytest.mark.jit
def test_caches_and_machines(flip):
    """Cold caches take longer than warm ones; a machine may be given by name, as an object, or by force."""
    x = numbers(64)
    warm, cold = (flip((2,), (32,), (x, *REST), caches=caches).cycles for caches in ("warm", "cold"))
    assert warm < cold
    machine = load("h200", {"global_memory.latency": 2000})
    assert flip((2,), (32,), (x, *REST), machine=machine, caches="cold").cycles > cold
    with pytest.raises(UserError, match="machine code for sm_90; a100 executes sm_80; take h100, h100-pcie, h200"):
        flip((2,), (32,), (x, *REST), machine="a100")
    assert flip((2,), (32,), (x, *REST), machine="a100", force=True).machine.key == "a100"
    assert flip((2,), (32,), (x, *REST), machine="h200", caches=None).machine == load("h200")


@pytest.mark.jit
def test_views_share_the_buffer_of_their_array(module, monkeypatch):
    """An array given twice, and views of it, lie in one buffer; each pointer is that of the view's first element."""
    x = numbers(96)
    seen = []
    monkeypatch.setattr("gpusim.api.raw_module.simulate", lambda kernel, *_, **__: seen.append(kernel))
    monkeypatch.setattr("gpusim.api.raw_module.Result.of", lambda *_: None)
    monkeypatch.setattr("gpusim.api.raw_module.warned", lambda result: result)
    flip = module.get_function("flip")
    bits = {}
    for name, first in (("whole", x), ("view", x[32:]), ("last", x[::-1])):
        flip((1,), (32,), (first, *REST), values=False)
        (kernel,) = seen[-1:]
        bits[name] = int.from_bytes(kernel.banks[0][0x210:0x218], "little") - kernel.window
        assert [one.nbytes for one in kernel.buffers if one.name == "argument1"] == [384]
    base = memory.bases(kernel.buffers)["argument1"]
    assert bits == {"whole": base, "view": base + 128, "last": base + 95 * 4}


@pytest.mark.jit
def test_strides_and_structures(module, monkeypatch):
    """The memory of an array is doubled whatever its strides and type are, and nothing around it."""
    stand_in(monkeypatch, PLAIN)
    flip = module.get_function("flip")
    x = np.zeros((8, 8), np.float32)
    x[2:6, 2:6] = 1
    flip((2,), (32,), (x.T[2:6], *REST))
    assert x.sum() == 32
    pairs = np.zeros(16, [("a", "f4"), ("b", "f4")])
    pairs["b"] = 3
    flip((1,), (32,), (pairs, *REST))
    assert (pairs["a"].sum(), pairs["b"].tolist()) == (0, [6] * 16)


@pytest.mark.jit
def test_memory_that_python_owns(flip):
    """Arrays over other memory, such as a bytearray's, get their results; two over one memory share a buffer."""
    held = bytearray(numbers(32).tobytes())
    x = np.frombuffer(held, np.float32)
    gc.collect(1)
    flip((1,), (32,), (x, *REST))
    assert np.frombuffer(held, np.float32).tolist() == (2 * numbers(32)).tolist()


@pytest.mark.jit
def test_a_store_to_a_read_only_array_is_refused(flip, module, monkeypatch):
    """Results are not left in a read-only array, which is said; an array that is only read may be read-only."""
    x = numbers(32)
    x.flags.writeable = False
    with pytest.raises(UserError, match="argument1: the kernel stores to a read-only array; copy it"):
        flip((1,), (32,), (x, *REST))
    stand_in(monkeypatch, "EXIT")
    assert module.get_function("flip")((1,), (32,), (x, *REST)).cycles > 0


@pytest.mark.jit
@pytest.mark.parametrize("sms", few([1, "all"], 1))
def test_machine_code_computes(sms):
    """The compiler's own code for saxpy leaves a x + y in y, for a grid that doesn't cover all elements at once."""
    saxpy = gpusim.RawModule(path=DATA.parents[3] / "examples" / "saxpy.sass").get_function("saxpy")
    x, y = numbers(1000), np.ones(1000, np.float32)
    result = saxpy((3,), (64,), (np.int32(990), np.float32(2), x, y), sms=sms)
    expected = 2 * numbers(1000) + 1
    expected[990:] = 1
    assert y.tolist() == expected.tolist()
    assert x.tolist() == numbers(1000).tolist()
    assert result.run.warp_instructions > 0


@pytest.mark.jit
def test_a_bad_address_is_the_programs():
    """An access between buffers is told with its 64 bits, by the engine and by the interpreter, as pointers have them.

    x has 64 elements and begins at 0x7f0000001000; y is next, 4096 bytes on. Block 1 reads x at element 64.
    """
    saxpy = gpusim.RawModule(path=DATA.parents[3] / "examples" / "saxpy.sass").get_function("saxpy")
    arguments = np.int32(128), np.float32(2), numbers(64), numbers(128)
    for sms in few((1, "all"), 1):  # of one SM that of block 0: block 1 is run in program order
        with pytest.raises(ExecutionError, match=r"block 1, .* 4 bytes at 0x7f000000[12]100 lie in no buffer") as error:
            saxpy((2,), (64,), arguments, sms=sms, strict=True)
        assert " at 0x7f000000" in str(error.value).partition("; the nearest is argument")[2]


@pytest.mark.jit
def test_a_null_pointer_is_told():
    """None, and a zero of 64 bits, for an array that the kernel loads: the error says so, and names no buffer."""
    saxpy = gpusim.RawModule(path=DATA.parents[3] / "examples" / "saxpy.sass").get_function("saxpy")
    for nothing in (None, np.uint64(0)):
        with pytest.raises(ExecutionError, match="at 0x0 lie in no buffer; it seems to be of a null pointer: give an"):
            saxpy((1,), (64,), (np.int32(64), np.float32(2), nothing, numbers(64)))


@pytest.mark.jit
@pytest.mark.parametrize("sms", few([1, "all"], 1))
def test_loads_behind_an_array_are_a_warning(sms):
    """The same launch, not strict, warns of the 64 loads of block 1, and leaves 2 x 0 + y of them: pages hold zeros."""
    saxpy = gpusim.RawModule(path=DATA.parents[3] / "examples" / "saxpy.sass").get_function("saxpy")
    y = numbers(128)
    with pytest.warns(gpusim.BeyondBufferWarning, match="block 1, warp 0, lane 0 and 63 other loads: .* strict=True"):
        saxpy((2,), (64,), (np.int32(128), np.float32(2), numbers(64), y), sms=sms)
    assert y.tolist() == [*(3.0 * i for i in range(64)), *range(64, 128)]


@pytest.mark.jit
def test_memory_that_does_not_suffice_is_that_of_the_launch(module, monkeypatch):
    """A store beyond shared or local memory tells what to give the launch, and no directive of listings."""
    for space, fix in (("S", "more dynamic shared memory"), ("L", "more stack")):
        stand_in(monkeypatch, f"ST{space} [RZ+0x100000], RZ\nEXIT")
        with pytest.raises(ExecutionError, match=f"correct the address, or give the launch {fix}"):
            module.get_function("flip")((1,), (32,), (numbers(32), *REST))


def test_names(module):
    """A kernel and a variable go by plain and mangled names; what is not there is refused with what is."""
    assert module.get_function("pairs").name == module.get_function("_Z5pairs4Pairs").name == "_Z5pairs4Pairs"
    assert module.kernels == ("_Z5pairs4Pairs", "flip")
    assert repr(module).endswith("sm_90.cubin: sm_90, kernels _Z5pairs4Pairs, flip>")
    with pytest.raises(UserError, match=r"no kernel flop; did you mean flip\?"):
        module.get_function("flop")
    with pytest.raises(UserError, match=r"variable tables: none; did you mean table\?"):
        module.get_global("tables")
    with pytest.raises(UserError, match="start has 12 bytes, no whole number of float64"):
        module.get_global("start", "float64")


def test_resources(flip):
    """A kernel says what it needs, as CuPy's functions do."""
    assert (flip.num_regs, flip.shared_size_bytes, flip.local_size_bytes) == (24, 1152, 0)
    assert flip.max_threads_per_block == 128


@pytest.mark.jit
def test_variables_keep_what_kernels_store(module, monkeypatch):
    """A view of a variable sets what the next launch finds, and has what it leaves; its address may be passed."""
    assert module.get_global("table", "float32").tolist() == [1, 2, 3, 4]
    module.get_global("table", np.float32)[:2] = 5, 6
    start = module.get_global("start", "f4")
    start[:] = 1, 2, 3
    stand_in(monkeypatch, SCALE.replace("c[x]", "c[nv.global]"))
    flip = module.get_function("flip")
    offset = module.contents.cubin.variables["start"].offset // 4
    result = flip((1,), (3 + offset,), (start, *REST))
    assert start.tolist() == [2, 4, 6]
    first = memory.bases(result.kernel.buffers)["nv.global"] + 4 * offset
    assert int.from_bytes(result.kernel.banks[0][0x210:0x218], "little") == result.kernel.window + first
    assert np.frombuffer(result.kernel.banks[3], np.float32).tolist() == [5, 6, 3, 4]
    flip((1,), (3 + offset,), (start, *REST))
    assert start.tolist() == [4, 8, 12]
    with pytest.raises(UserError, match="argument 1: a __constant__ variable has no address in global memory"):
        flip((1,), (1,), (module.get_global("table"), *REST))


def test_code_is_given_in_one_way():
    """Source and path exclude each other; one is needed."""
    with pytest.raises(UserError, match="give code, a text of CUDA C or PTX, or path, one of the two"):
        gpusim.RawModule()
    with pytest.raises(UserError, match="one of the two"):
        gpusim.RawModule("x", path="k.cubin")
    with pytest.raises(UserError, match=r"nowhere\.cubin: No such file"):
        gpusim.RawModule(path="nowhere.cubin")


@pytest.mark.parametrize(
    ("grid", "block", "message"),
    [
        ((), (32,), r"grid=\(\): 0 sizes; give x"),
        ((1, 1, 1, 1), (32,), "4 sizes"),
        ((1.5,), (32,), "give one to three whole numbers"),
        ((0,), (32,), "0 blocks in x; a grid has 1 to 2147483647"),
        (1, 129, "blocks of 129 threads; flip takes 128 at most"),
        (1, (32, 0), "a block of 32 x 0 x 1 threads"),
    ],
)
def test_sizes_that_are_none(flip, grid, block, message):
    """A grid or block that CUDA refuses is refused."""
    with pytest.raises(UserError, match=message):
        flip(grid, block, (numbers(32), *REST))


def test_caches_that_are_none(flip):
    """Caches are warm, cold, or as the machine has them."""
    with pytest.raises(UserError, match="caches='hot': give 'cold', 'warm' or None"):
        flip(1, 32, (numbers(32), *REST), caches="hot")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"shared_mem": -1}, "shared_mem=-1: give a number of bytes, 0 or more"),
        ({"shared_mem": 1.5}, "shared_mem=1.5: give a number of bytes"),
        ({"stack": -8}, "stack=-8: give a number of bytes"),
        ({"machine": 5}, "machine=5: give the name of a machine, or what gpusim.load returns"),
        ({"args": np.zeros(32, np.float32)}, "args: ndarray; give a tuple of the arguments, also of one"),
        ({"args": None}, "args: NoneType; give a tuple"),
        ({"grid": None}, "grid=None: give one to three whole numbers"),
    ],
)
def test_calls_that_are_none(flip, given, message):
    """What is no size, machine or tuple of arguments is refused in one line."""
    call = {"grid": 1, "block": 32, "args": ()} | given
    with pytest.raises(UserError, match=message):
        flip(**call)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"options": "-O3"}, r"options='-O3': give a tuple of options, such as \('-O3',\)"),
        ({"architecture": "sm_80"}, "architecture='sm_80': give a number, 90 for sm_90"),
    ],
)
def test_modules_that_are_none(given, message):
    """Options that are one text, and an architecture that is no number, are refused before anything is compiled."""
    with pytest.raises(UserError, match=message):
        gpusim.RawModule("", **given)


TYPED = """
extern "C" __global__ void add(const float* in, float* out, int n) { if (threadIdx.x < n) out[threadIdx.x] = in[0]; }
extern "C" __global__ void any(const void* in, char* out) { out[threadIdx.x] = ((const char*)in)[threadIdx.x]; }
"""


@needs_nvcc
@pytest.mark.parametrize("as_file", [False, True])
def test_types_of_a_source_are_checked(tmp_path, as_file):
    """Doubles for the `const float *` of a C function are refused where its source is known, as text or as file."""
    path = tmp_path / "k.cu"
    path.write_text(TYPED)
    module = gpusim.RawModule(path=path, architecture=90) if as_file else gpusim.RawModule(TYPED)
    out, add = np.zeros(64, np.float32), module.get_function("add")
    with pytest.raises(UserError) as caught:
        add.launched((1,), (64,), (np.zeros(64), out, np.int32(64)))
    what = "argument 1: an array of float64, where the parameter is of type const float *"
    assert str(caught.value) == f"{what}; give one of float32, or a view as numpy.float32 to pass its bits"
    with pytest.raises(UserError, match=r"argument 3: 1.5, where the parameter is of type int; give numpy.int32$"):
        add.launched((1,), (64,), (out, out, 1.5))
    for array in (np.zeros(64, np.float32), np.zeros(64).view(np.float32), np.zeros(64, np.int32)):
        assert add.launched((1,), (64,), (array, out, 64)).threads == 64
    for array in (np.zeros(64), np.zeros(64, np.float16), np.zeros(64, np.int64)):
        assert module.get_function("any").launched((1,), (64,), (array, array)).threads == 64


def test_a_block_of_128_threads_in_z_is_refused(flip):
    """CUDA allows 64 threads of a block in z; the message names the machine and the fix."""
    with pytest.raises(
        UserError, match="needs 128 threads of a block in z; h200 has 64; turn the block, with more in x"
    ):
        flip((1,), (1, 1, 128), (numbers(128), *REST))
