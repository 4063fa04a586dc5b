"""Triton kernels on a simulated card: what its compiler is told, ranks, and what is refused."""

import io
import lzma
import tarfile
from dataclasses import replace
from inspect import Parameter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gpusim
from gpusim.api.triton import ranking
from gpusim.api.triton.ranking import specialized
from isa.errors import UserError
from isa.nvidia.compiler import tools

SIZE = 4096


def kernel(*names, constant=(), defaults=None):
    """Return a stand-in for a Triton function with these parameters."""
    defaults = defaults or {}
    params = [
        SimpleNamespace(
            name=name,
            is_constexpr=name in constant,
            has_default=name in defaults,
            default=defaults.get(name, Parameter.empty),
        )
        for name in names
    ]
    return SimpleNamespace(__name__="k", arg_names=list(names), params=params)


class Tensor:
    """A tensor of another library: its type and size alone."""

    dtype = "torch.bfloat16"

    def numel(self):
        """Return the number of elements."""
        return 12

    def element_size(self):
        """Return the bytes of one."""
        return 2


def test_the_package_has_the_module():
    """`gpusim.triton` is the module, which is imported when it is first asked for."""
    assert gpusim.triton.rank is ranking.rank


def test_arguments_have_tritons_types():
    """Arrays are pointers to their elements' type, numbers are 32 bits if they fit, and tensors count by their size."""
    asked, passed = specialized(
        kernel("x", "h", "t", "small", "large", "real", "flag"),
        {
            "x": np.zeros(4, np.float32),
            "h": np.zeros(4, np.uint8),
            "t": Tensor(),
            "small": 7,
            "large": 2**40 + 1,
            "real": 0.5,
            "flag": True,
        },
    )
    assert asked["signature"] == {
        "x": "*fp32", "h": "*u8", "t": "*bf16", "small": "i32", "large": "i64", "real": "fp32", "flag": "i1",
    }  # fmt: skip
    kinds = [type(ranking._array(value)) for value in passed[3:]]
    assert kinds == [np.int32, np.int64, np.float32, np.int8]
    assert ranking._array(passed[2]).nbytes == 24


def test_constants_and_multiples_of_16_are_told():
    """A 1 and None become constants, as constexpr parameters do; 16 divides pointers and 32, but not 7."""
    asked, passed = specialized(
        kernel("x", "one", "many", "odd", "none", "BLOCK", "KIND", constant=("BLOCK", "KIND"), defaults={"KIND": "a"}),
        {"x": np.zeros(4, np.float32), "one": 1, "many": 32, "odd": 7, "none": None, "BLOCK": 64},
    )
    assert asked["constexprs"] == {"one": 1, "none": None, "BLOCK": 64, "KIND": "a"}
    assert asked["attrs"] == {(0,): [["tt.divisibility", 16]], (2,): [["tt.divisibility", 16]]}
    assert [value if isinstance(value, int) else "x" for value in passed] == ["x", 32, 7]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"x": np.zeros(4)}, "n: k needs it; give it in arguments or in each configuration"),
        ({"x": np.zeros(4), "n": 3, "m": 4}, "m: k has no such argument; it takes x, n"),
        ({"x": "text", "n": 3}, "x: str of no type; give an array or a number"),
        ({"x": np.zeros(4, complex), "n": 3}, "x: ndarray of complex128 type; give an array or a number"),
    ],
)
def test_wrong_arguments_are_refused(given, message):
    """An argument that is missing, unknown or of no type that Triton has is told in one line."""
    with pytest.raises(UserError) as raised:
        specialized(kernel("x", "n"), given)
    assert str(raised.value) == message


@pytest.fixture(name="triton")
def installed():
    """Give Triton, if it and NVIDIA's disassembler are installed."""
    pytest.importorskip("triton.language")  # folders of tests have the name triton too
    found = pytest.importorskip("triton")
    if not tools.installed("nvdisasm"):
        pytest.skip("nvdisasm is not installed")
    return found


def vectors():
    """Return the arguments of `add`."""
    return {name: np.zeros(SIZE, np.float32) for name in ("x", "y", "out")} | {"n": SIZE}


@pytest.mark.jit
@pytest.mark.long
def test_configurations_are_ranked_by_time(triton):
    """Two warps for 1,024 elements beat one block of a warp on one SM; times are those of `perf_model`, to the bit."""
    from triton_kernels import add  # noqa: PLC0415  (Triton may be missing)

    def grid(meta):
        return (triton.cdiv(SIZE, meta["BLOCK"]),)

    configs = [triton.Config({"BLOCK": size}, num_warps=warps) for size, warps in ((SIZE, 1), (256, 2), (128, 4))]
    found = ranking.rank(add, configs, vectors(), grid, machine="a100", jobs=1)
    times = [one.milliseconds for one in found]
    assert times == sorted(times)
    assert found[-1].config is configs[0]
    assert all(one.figures and not one.reason for one in found)
    model = ranking.perf_model(add, grid, machine="a100")
    again = [model(**vectors(), **one.config.all_kwargs()) for one in found]
    assert again == times


@pytest.mark.jit
@pytest.mark.long
def test_products_of_tiles_are_ranked(triton):
    """A product of tiles with tensor instructions has a time; four warps share the work of one."""
    from triton_kernels import product  # noqa: PLC0415  (Triton may be missing)

    tile = np.zeros((64, 64), np.float16)
    arguments = {"a": tile, "b": tile.copy(), "c": np.zeros((64, 64), np.float32), "k": 2}
    configs = [triton.Config({"BLOCK": 64}, num_warps=warps) for warps in (1, 4)]
    first, second = ranking.rank(product, configs, arguments, (1,), machine="a100", jobs=1)
    assert (first.reason, second.reason) == ("", "")
    assert (first.config, second.config) == (configs[1], configs[0])


@pytest.mark.usefixtures("triton")
def test_a_machine_without_machine_code_is_refused():
    """Chips older than the machine code that is executed are refused with those that are not."""
    with pytest.raises(UserError, match=r"^gtx580: executes no machine code; take a10, a100"):
        ranking.perf_model(kernel(), (1,), machine="gtx580")


TILES = (32, 32, 32, 1, 2), (64, 64, 32, 4, 3), (128, 64, 32, 4, 2), (64, 128, 64, 8, 3)  # M, N, K, warps, stages
SIDE = 256


@pytest.fixture(name="compiled")
def stand_in_for_triton(monkeypatch):
    """Put Triton 3.5's cubins of `matmul` in `triton_kernels.py` in the place of its compiler."""
    packed = Path(__file__).with_name("products.tar.xz").read_bytes()
    with tarfile.open(fileobj=io.BytesIO(lzma.decompress(packed))) as archive:
        known = {name: archive.extractfile(name).read() for name in archive.getnames()}

    def compiled(source, target, options):
        wanted = [source["constexprs"][name] for name in "MNK"] + [options["num_warps"], options["num_stages"]]
        start = "_".join(map(str, ["sm", target, *wanted]))
        (name,) = (one for one in known if one.startswith(f"{start}_"))
        shared = int(name.rpartition("_")[2])
        told = SimpleNamespace(name="matmul", num_warps=options["num_warps"], shared=shared, num_ctas=1)
        return SimpleNamespace(asm={"cubin": known[name]}, metadata=told)

    fake = SimpleNamespace(
        compile=compiled,
        compiler=SimpleNamespace(ASTSource=lambda fn, **source: source),  # noqa: ARG005
        TritonError=ValueError,
        GPUTarget=lambda kind, number, warp: number,  # noqa: ARG005
    )
    real = ranking.extra.module

    def module(name, needs):
        return fake if name.startswith("triton") else real(name, needs)

    monkeypatch.setattr(ranking.extra, "module", module)
    if not tools.installed("nvdisasm"):
        pytest.skip("nvdisasm is not installed")


@pytest.mark.usefixtures("compiled")
def test_blocks_have_scratch_memory_of_their_own():
    """A kernel that makes descriptors gets memory for each of its blocks, before the pointer of a profiler, null."""
    configs, standing, arguments, grid = products()
    machine = ranking._machine("h200", {})
    options = ranking._options(configs[1])
    launch = ranking._launched(standing, configs[1].kwargs, options, arguments, grid, machine)
    without = ranking._kernel(launch)
    made = ranking._kernel(replace(launch, scratch=128))
    sizes = [one.nbytes for one in made.buffers]
    assert sorted(sizes) == sorted([*(one.nbytes for one in without.buffers), 128 * 16])
    behind = 0x210 + 3 * 8 + 8  # three arrays and a number of four bytes, from where parameters begin on sm_90
    pointers = [np.frombuffer(one.banks[0][behind : behind + 16], np.uint64) for one in (without, made)]
    assert (pointers[0] != 0).tolist() == [False, False]
    assert (pointers[1] != 0).tolist() == [True, False]


def products():
    """Return configurations of `matmul`, a kernel that stands for it, its arguments and its grid."""
    configs = [
        SimpleNamespace(kwargs={"M": m, "N": n, "K": k}, num_warps=warps, num_stages=stages)
        for m, n, k, warps, stages in TILES
    ]
    standing = kernel("a", "b", "c", "size", "M", "N", "K", constant=("M", "N", "K"))
    arrays = {name: np.zeros((SIDE, SIDE), np.float16) for name in "abc"}
    return configs, standing, arrays | {"size": SIDE}, lambda meta: (SIDE // meta["M"], SIDE // meta["N"])


@pytest.mark.jit
@pytest.mark.long
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("machine", ["rtx3090", "h200"])
def test_a_space_of_products_is_ranked(machine):
    """All configurations of a product on tensor cores have a time, mma.sync's and wgmma's, the shortest first.

    None beats the tensor cores' peak: 256 x 256 x 256 multiply-adds, of which an SM of the RTX 3090 does 256 a cycle
    (sums of single precision), one of the H200 2,048.
    """
    configs, standing, arguments, grid = products()
    found = ranking.rank(standing, configs, arguments, grid, machine=machine, jobs=1)
    assert [one.reason for one in found] == [""] * len(configs)
    times = [one.milliseconds for one in found]
    assert times == sorted(times)
    per_sm = SIDE**3 / gpusim.load(machine).chip.sms / {"rtx3090": 256, "h200": 2048}[machine]
    assert all(one.figures.cycles > per_sm for one in found)
    assert times[-1] > 1.2 * times[0]
    assert {id(one.config) for one in found} == {id(one) for one in configs}
