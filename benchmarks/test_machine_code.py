"""Machine code: the time to load and decode a long kernel, and the rates of compiled matrix products.

The long kernel is compiled once (CUDA's nvcc; without it the test is skipped) and its disassembly is kept, so what is
timed is the reading of both, the lowering to instructions of the table, and the decoding of a launch.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.conftest import Keep
from benchmarks.speed import FEEDS, run_compiled
from gpusim.launch.codes.code_order import keeps_order
from gpusim.launch.decode import decode
from gpusim.launch.feed import EXECUTION_DRIVEN, evaluated
from gpusim.launch.launch import Launch, launch
from gpusim.machine.machine import load as load_machine
from gpusim.machine.occupancy import occupancy
from isa.dataflow.lanes.divergence import reconvergence_points
from isa.errors import UserError
from isa.kernel import Buffer, Kernel
from isa.nvidia.abi import load
from isa.nvidia.abi.launch import LaunchState, Value, pointer
from isa.nvidia.compiler import tools
from isa.nvidia.file import code
from isa.nvidia.file.code import Code
from isa.nvidia.lowering import lower, syntax
from workloads.measured.whole import launch as whole

MACHINE = "h200"
LONG = 30_000  # instructions, at least
WAVES = 2  # of resident blocks that run without values
PRODUCTS = ("sgemm_64x64_4x4_v1", "sgemm_96x96_6x6_v2", "sgemm_128x128_8x8_v4", "sgemm_128x128_8x8_v4_pre_NT")
BUFFERS = tuple(Buffer(name, kind, 1 << 20) for name, kind in (("a", "f4"), ("b", "i4"), ("c", "f4")))
# A straight line of loads, sums and products of both kinds, guarded instructions, and stores.
SOURCE = """
extern "C" __global__ void __launch_bounds__(128) unrolled(const float *a, const int *b, float *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = i;
    float s[16];
    for (int j = 0; j < 16; j++) s[j] = a[j];
#pragma unroll
    for (int k = 0; k < ROUNDS; k++) {
        float x = a[i + k * 128];
        t = t * 5 + b[(t & 1023) + k];
        if (t & 1) t ^= k * 3;
#pragma unroll
        for (int j = 0; j < 16; j++) s[j] = s[j] * x + s[(j + k) & 15];
        if (k % 16 == 15) c[i + k * 64] = s[k / 16 % 16];
    }
    for (int j = 0; j < 16; j++) c[i * 16 + j] = s[j] + t;
}
"""


@pytest.fixture(scope="module")
def cubin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of the long kernel, as source: reading it finds the cubin and its text in the cache."""
    try:
        tools.version("nvcc")
    except UserError as error:
        pytest.skip(str(error))
    path = tmp_path_factory.mktemp("long") / "unrolled.cu"
    path.write_text(SOURCE.replace("ROUNDS", "1200"))
    return path


def _forgotten() -> None:
    """Drop what is kept of texts that were lowered before."""
    for kept in (lower.lowered, lower._operand, syntax.operand):
        kept.cache_clear()


def _launched(found: Code) -> Kernel:
    """Return a launch of the only kernel of a file."""
    (name,) = found.cubin.kernels if found.cubin else ()
    values: list[Value] = [pointer(BUFFERS, buffer.name) for buffer in BUFFERS]
    arguments = load.arguments(found, name, values)
    return load.kernel(found, LaunchState(name, (4, 1, 1), (128, 1, 1), 0, arguments, BUFFERS))


def test_load(benchmark: BenchmarkFixture, keep: Keep, cubin: Path) -> None:
    """Time the way from the file to the program: ELF, text, lowering."""
    code.read(cubin)
    kernel = benchmark.pedantic(lambda: _launched(code.read(cubin)), setup=_forgotten, rounds=5)
    assert len(kernel.program) >= LONG
    keep("long kernel", "load", len(kernel.program))


def test_decode(benchmark: BenchmarkFixture, keep: Keep, cubin: Path) -> None:
    """Time the decoding of a launch, with the proof that control codes keep the order."""
    machine = load_machine(MACHINE)

    def fresh() -> tuple[tuple[Kernel], dict[str, object]]:
        _forgotten()
        return (_launched(code.read(cubin)),), {}

    def prepared(kernel: Kernel) -> bool:
        points = reconvergence_points(kernel.program)
        rows = decode(kernel, machine, evaluated(kernel, EXECUTION_DRIVEN), points)
        return keeps_order(kernel.program, rows, machine.dependence.yield_stall)

    assert benchmark.pedantic(prepared, setup=fresh, rounds=5)
    keep("long kernel", "decode", LONG)


@pytest.mark.parametrize("feed", FEEDS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(benchmark: BenchmarkFixture, keep: Keep, name: str, feed: str) -> None:
    """Time the compiled engine on the first blocks of a matrix product as nvcc compiles it, on an SM of a full grid."""
    kernel, machine = whole.kernel(name, "full"), load_machine(MACHINE)
    blocks = 1 if feed == EXECUTION_DRIVEN else WAVES * occupancy(kernel, machine).blocks

    def prepared() -> tuple[tuple[Launch], dict[str, object]]:
        return (launch(kernel, machine, blocks=blocks, **FEEDS[feed]),), {}

    done = benchmark.pedantic(run_compiled, setup=prepared, rounds=3, warmup_rounds=1)
    assert not done.sm.fault.code
    keep(name, feed, int(done.program.issued.sum()))
