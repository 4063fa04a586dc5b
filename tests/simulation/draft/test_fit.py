"""Drafts of launches run: of all examples, of kernels of each kind, and of drawn signatures."""

import shutil
from functools import partial

import pytest
from draws import draws
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs
from read.fenced import ROOT

from gpusim.launch.file import prepare, source
from gpusim.launch.file.draft import template
from gpusim.launch.file.draft.text import text
from gpusim.simulation.draft.accessed import Budget, check, sample
from gpusim.simulation.draft.fit import _has_extern, fitted
from isa.errors import LimitError
from isa.kernel import Kernel
from isa.nvidia.compiler import tools
from isa.nvidia.file import code
from isa.nvidia.file.choice import kernels
from isa.program import Program

EXAMPLES = {
    path.relative_to(ROOT / "examples").with_suffix("").as_posix(): path
    for path in (ROOT / "examples").rglob("*.cubin")
}
UNKNOWN = {"tensor/tma": "in shared memory lacks"}  # bytes: nothing says what box a map has
needs_nvcc = pytest.mark.skipif(
    not (tools.installed("nvcc") and shutil.which("g++")), reason="nvcc (extra cuda) or g++ is not installed"
)
pytestmark = pytest.mark.jit


def drafted(tmp_path, found, name, written, file="k.cu"):
    """Return a draft whose blocks have run, after it has been written and read back as the same."""
    draft = fitted(found, name, template.drafts(found, name, file, written), file, written)
    path = tmp_path / "k.toml"
    path.write_text(text(found, name, draft, file))
    read = source.read(path)
    assert read.file == draft.file
    return draft, read


def runs(found, read):
    """Run blocks of a launch that was read, in which no load may leave a buffer; raises what ends them."""
    made = prepare.kernel(read, found, "k.cu")
    check(Kernel(**{**{name: getattr(made, name) for name in made.__dataclass_fields__}, "page_bytes": 0}), Budget())


def compiled(tmp_path, written, architecture=90):
    """Return the code of a text, and the name of its only kernel."""
    path = tmp_path / "k.cu"
    path.write_text(written)
    found = code.read(path, architecture)
    return found, kernels(found)[0]


@pytest.mark.long
@pytest.mark.parametrize("example", sorted(EXAMPLES))
def test_the_draft_of_an_example_runs(tmp_path, example):
    """Of each kernel of the examples, with its source, the draft is read back and runs, or says what ends it."""
    path = EXAMPLES[example]
    found, written = code.read(path), path.with_suffix(".cu").read_text()
    for name in kernels(found):
        draft, read = drafted(tmp_path, found, name, written)
        assert UNKNOWN.get(example, "") in draft.fault
        if example not in UNKNOWN:
            assert draft.fault == ""
            runs(found, read)


KINDS = {
    "2-D": "__global__ void k(float *x, int w, int h) { int i = blockIdx.x * blockDim.x + threadIdx.x,"
    " j = blockIdx.y * blockDim.y + threadIdx.y; if (i < w && j < h) x[j * w + i] += 1; }",
    "3-D": "__global__ void k(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x,"
    " j = blockIdx.y * blockDim.y + threadIdx.y, l = blockIdx.z * blockDim.z + threadIdx.z;"
    " x[(l * n + j) * n + i] += 1; }",
    "extern": "__global__ void k(float *x) { extern __shared__ float s[]; s[2 * threadIdx.x] = x[threadIdx.x];"
    " __syncthreads(); x[threadIdx.x] = s[2 * (blockDim.x - 1 - threadIdx.x)]; }",
    "static": "__global__ void k(float *x) { __shared__ float s[32]; s[threadIdx.x] = x[threadIdx.x];"
    " __syncthreads(); x[threadIdx.x] = s[31 - threadIdx.x]; }",
    "pointers": "__global__ void k(float **rows, int n) {"
    " for (int j = 0; j < n; j++) rows[blockIdx.x][j] += threadIdx.x; }",
    "struct": "struct Image { float *pixels; const int *where; int width; float scale[3]; };"
    " __global__ void k(Image in, float *y) { int i = blockIdx.x * in.width + threadIdx.x;"
    " y[i] = in.scale[1] * in.pixels[in.where[i]]; }",
    "indices": "__global__ void k(const int *from, const float *x, float *y) {"
    " int i = blockIdx.x * blockDim.x + threadIdx.x; for (int e = from[i]; e < from[i + 1]; e++) y[i] += x[3 * e]; }",
    "strides": "__global__ void k(const double *x, double *y, long n) { long i = blockIdx.x * blockDim.x + threadIdx.x;"
    " if (i < n) y[i] = x[40 * i + 7]; }",
    "bounds": "__global__ void __launch_bounds__(96) k(float *x) { x[blockIdx.x * 96 + threadIdx.x] += 1; }",
    "booleans": "__global__ void k(float *x, int a, int b, int c, bool p, bool q) {"
    " x[threadIdx.x] = p ? a : q ? b : c; }",
}  # fmt: skip


@needs_nvcc
@pytest.mark.parametrize("kind", KINDS)
def test_a_kernel_of_each_kind_runs(tmp_path, kind):
    """Blocks in two and three dimensions, shared memory of both kinds, addresses of addresses, structs, indices."""
    found, name = compiled(tmp_path, KINDS[kind])
    draft, read = drafted(tmp_path, found, name, KINDS[kind])
    assert draft.fault == ""
    runs(found, read)


@needs_nvcc
@pytest.mark.parametrize("architecture", [75, 80, 90])
def test_a_byte_at_the_end_of_the_parameters_is_read(tmp_path, architecture):
    """The last parameter may be a byte, which code reads as an operand: its bank ends with the whole word."""
    found, name = compiled(tmp_path, KINDS["booleans"], architecture)
    draft, read = drafted(tmp_path, found, name, KINDS["booleans"])
    assert draft.fault == ""
    runs(found, read)


@needs_nvcc
def test_sizes_and_counts_are_those_of_the_source(tmp_path):
    """Grid, block and numbers are those of the first launch in the source; buffers have what these blocks access."""
    written = (
        "__global__ void k(float *x, const short *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x;"
        " if (i < n) x[i] = y[2 * i]; }\n"
        "int main() { const int n = 5000; k<<<(n + 63) / 64, 64>>>(0, 0, n); k<<<1, 1>>>(0, 0, 1); }"
    )
    found, name = compiled(tmp_path, written)
    draft, _ = drafted(tmp_path, found, name, written)
    x, y, n = draft.file.argument
    assert (draft.file.grid, draft.file.block) == ([79], [64])
    assert (x.elements, y.elements, n.value) == (5000, 10_000, 5000)
    assert draft.said == "As in k<<<(n + 63) / 64, 64>>> in line 2, the first of 2."


@needs_nvcc
def test_another_block_is_told(tmp_path):
    """Where the likeliest block does not suit the shared memory, another one does, and a comment says why."""
    found, name = compiled(tmp_path, KINDS["static"])
    draft, _ = drafted(tmp_path, found, name, KINDS["static"])
    assert draft.file.block == [32]
    assert draft.said.startswith("A likelier launch ended with: k: k+0x")
    assert "lie outside the" in draft.said


@needs_nvcc
@pytest.mark.long
def test_what_ends_a_draft_is_said(tmp_path):
    """Where no draft ends well, the first one says with what it ends, in a comment; it is read back all the same."""
    written = "__global__ void k(int *x) { while (true) atomicAdd(x, 1); }"
    found, name = compiled(tmp_path, written)
    draft, _ = drafted(tmp_path, found, name, written)
    assert "more than 1048576 warp instructions" in draft.fault
    assert "\n# This launch does not end well: k: k+0x" in (tmp_path / "k.toml").read_text()


PARAMETERS = {  # a type, and a statement that uses a parameter of it
    "float *{0}": "{0}[i] += 1;",
    "const double *{0}": "sum += {0}[3 * i];",
    "unsigned char *{0}": "{0}[i / 2] = 1;",
    "const int *{0}": "sum += {0}[{0}[i]];",
    "float4 *{0}": "{0}[i].y = 2;",
    "float **{0}": "sum += {0}[j % 5][i];",
    "Pair {0}": "sum += {0}.x[i] + {0}.y[2 * i] + {0}.n;",
    "const Pair *{0}": "sum += {0}[i].n;",
    "void *{0}": "((int *){0})[i] = 1;",
    "int {0}": "for (int e = 0; e < {0}; e += 64) sum += e;",
    "float {0}": "sum += {0};",
    "bool {0}": "if ({0}) sum += 1;",
    "char {0}": "sum += {0};",
    "unsigned long long {0}": "sum += {0};",
    "double3 {0}": "sum += {0}.z;",
}
INDICES = ("int i = blockIdx.x * blockDim.x + threadIdx.x, j = i;",
           "int i = (blockIdx.y * blockDim.y + threadIdx.y) * gridDim.x * blockDim.x + blockIdx.x * blockDim.x"
           " + threadIdx.x, j = threadIdx.y;",
           "int i = blockIdx.z * 100 + threadIdx.x, j = blockIdx.y;")  # fmt: skip
SHARED = "", "extern __shared__ float s[]; s[threadIdx.x] = sum; sum += s[threadIdx.x];"


@needs_nvcc
@settings(max_examples=draws(30), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    kinds=st.lists(st.sampled_from(sorted(PARAMETERS)), max_size=6),
    index=st.sampled_from(INDICES),
    shared=st.sampled_from(SHARED),
    named=st.booleans(),
    with_source=st.booleans(),
)
def test_drawn_signatures_run(tmp_path, kinds, index, shared, named, with_source):
    """A kernel of any parameters, which its name says or only its source, has a draft that is read back and runs."""
    parameters = ", ".join(one.format(f"p{number}") for number, one in enumerate(kinds))
    uses = "\n".join(PARAMETERS[one].format(f"p{number}") for number, one in enumerate(kinds))
    head = "" if named else 'extern "C" '
    written = (
        "struct Pair { float *x; const int *y; int n; };\n__device__ float out[1 << 20];\n"
        f"{head}__global__ void k({parameters}) {{ float sum = 0; {index}\n{uses}\n{shared}\nout[i % 1024] = sum; }}"
    )
    found, name = compiled(tmp_path, written)
    known = named or with_source
    draft, read = drafted(tmp_path, found, name, written if with_source else "")
    if known and (with_source or not {"float **{0}", "Pair {0}", "const int *{0}"} & set(kinds)):
        assert draft.fault == ""
    if not draft.fault:
        runs(found, read)


@pytest.mark.parametrize(("grid", "most"), [((1, 1, 1), 5), ((7, 1, 1), 100), ((1000, 1, 1), 10), ((40, 30, 5), 12)])
def test_a_sample_has_the_ends_of_each_axis(grid, most):
    """All blocks run where that is quick, else those in the corners of the grid and some between."""
    made = partial(Kernel, "k", Program((), {}, 0, 0, 0))(grid=grid, block=(1, 1, 1))
    found = list(sample(made, most))
    assert found == sorted(set(found))
    assert {0, made.blocks - 1, grid[0] - 1, made.blocks - grid[0] * grid[1]} <= set(found)
    assert len(found) <= max(most, 2) + 8


CLUSTER = """#include <cooperative_groups.h>
__global__ void __cluster_dims__(4) k(int *x) {
  extern __shared__ int s[];
  auto cluster = cooperative_groups::this_cluster();
  *cluster.map_shared_rank(s + threadIdx.x, (cluster.block_rank() + 1) % 4) = threadIdx.x;
  cluster.sync();
  x[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}"""


@needs_nvcc
def test_shared_memory_of_a_cluster_is_a_blocks(tmp_path):
    """Stores to other blocks' shared memory count as if to the block's own: a word for each of 128 threads."""
    found, name = compiled(tmp_path, CLUSTER)
    draft, read = drafted(tmp_path, found, name, CLUSTER)
    assert (draft.fault, draft.file.shared) == ("", 512)
    runs(found, read)


MAP = """#include <cuda.h>
#include <cuda/barrier>
__global__ void k(const __grid_constant__ CUtensorMap to) {
  __shared__ alignas(128) float tile[16 * 8];
  tile[threadIdx.x] = threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::device::experimental::cp_async_bulk_tensor_2d_shared_to_global(&to, 0, 0, tile);
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
}"""


@needs_nvcc
def test_a_tensor_map_has_the_dimensions_of_the_copies(tmp_path):
    """Sizes and box of the map are guessed, and said to be; a store through it runs."""
    found, name = compiled(tmp_path, MAP)
    draft, read = drafted(tmp_path, found, name, MAP)
    (to,) = draft.file.argument
    assert (len(to.tensor_map.size), draft.fault) == (2, "")
    assert "guessed: type, size and box of the tensor" in draft.comments[0]
    runs(found, read)


ENDLESS = "__global__ void k(int *x) { while (true) atomicAdd(x, 1); }"


@needs_nvcc
def test_all_launches_have_one_budget(tmp_path):
    """What a launch takes is taken from all: instructions of blocks that end badly, too, and bytes of buffers."""
    found, name = compiled(tmp_path, ENDLESS)
    draft = template.drafts(found, name, "k.cu", ENDLESS)[0]
    kernel = prepare.kernel(source.Source(tmp_path / "k.toml", draft.file, (), {}), found, "k.cu")
    budget = Budget(instructions=5000, nbytes=3 * sum(one.nbytes for one in kernel.buffers))
    with pytest.raises(LimitError, match="more than 5000 warp instructions"):
        check(kernel, budget)
    assert budget.spent
    with pytest.raises(LimitError, match="no further launch is tried"):
        check(kernel, budget)
    few = Budget(nbytes=1)
    with pytest.raises(LimitError, match="no further launch is tried"):
        check(kernel, few)
    assert few.spent


@needs_nvcc
def test_blocks_end_with_the_budget(tmp_path):
    """Of blocks that end well, no further one begins where the budget is spent."""
    found, name = compiled(tmp_path, KINDS["bounds"])
    launch = structs.replace(template.drafts(found, name, "k.cu")[0].file, grid=[10])
    kernel = prepare.kernel(source.Source(tmp_path / "k.toml", launch, (), {}), found, "k.cu")
    block = Budget().walk(kernel, [0]).counts.sum()
    assert Budget().walk(kernel, range(10)).counts.sum() == 10 * block
    budget = Budget(instructions=3 * block)
    assert budget.walk(kernel, range(10)).counts.sum() == 3 * block
    assert budget.spent


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("extern __shared__ float s[];", True),
        ("void f() { __shared__ extern float s[]; }", True),
        (".extern  .shared .align 16 .b8 s[];", True),
        ("extern int a; __shared__ float s[3];", False),
        ("// extern __shared__ float s[];", False),
        ("extern " * 100_000, False),
    ],
)
def test_shared_memory_without_a_size_is_told(text, has):
    """Both words are in one statement, in any order, in time in proportion to the text."""
    assert _has_extern(text) is has
