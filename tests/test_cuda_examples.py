"""The CUDA examples: each is of its kind, computes what NumPy gives, and has a report by source line.

Code is that of the cubins beside the sources, so that no compiler is needed.
"""

import json
import re
import shutil

import numpy as np
import pytest
from compiled_alike import alike
from interpreter.interpret import interpret
from read.fenced import ROOT

from examples.cuda import expected
from gpusim.commands.main import execute
from gpusim.launch.file.prepare import prepared
from gpusim.simulation.verify import compare
from isa import memory
from isa.architecture import Target
from isa.nvidia.compiler import tools
from isa.nvidia.file import code

FOLDER = ROOT / "examples" / "cuda"
PATHS = sorted(FOLDER.glob("*.cu"))
NAMES = [path.stem for path in PATHS]
KIND = {  # instructions without which a kernel would not be of its kind, as nvdisasm has them
    "axpy_half": "HFMA2",  # two halves
    "compact": "VOTE.ANY, POPC",  # collectives of a warp
    "dot_double": "DFMA, SHFL.DOWN",  # double precision
    "fibonacci": "CALL.REL.NOINC, RET.REL.NODEC, STL",  # recursion
    "histogram": "ATOMS.POPC.INC.32, REDG.E.ADD",  # atomics in shared and in global memory
    "mandelbrot": "BSSY, BSYNC",  # divergence
    "matmul": "LDS.128, STS, BAR.SYNC",  # tiles of a template
    "palette": "c[0x3]",  # constants
    "reverse": "STS, LDS",  # dynamic shared memory
    "sort_local": "LDL, STL",  # arrays in local memory
}
LATER = 87, 89, 100, 120  # architectures of machines other than the H200
SHORT = "palette", "reverse", "axpy_half"  # enough to run in plain Python
needs_nvcc = pytest.mark.skipif(
    not (tools.installed("nvcc") and shutil.which("g++")), reason="nvcc (extra cuda) or g++ is not installed"
)


def cubin(name):
    """Return the path of an example's machine code, as a text."""
    return str(FOLDER / f"{name}.cubin")


def right(kernel, contents):
    """Return for each expectation of a kernel which of its values global memory holds."""
    return [compare(kernel, contents, expectation).right for expectation in kernel.outcome()]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_of_its_kind(name):
    """Each kernel's machine code has the instructions for which it is here."""
    (section,) = code.read(cubin(name)).sections.values()
    text = "\n".join(one.text for one in section.instructions)
    assert [one for one in KIND[name].split(", ") if not re.search(rf"(^|\s){re.escape(one)}", text, re.M)] == []


def test_dynamic_shared_memory_and_a_template():
    """The launch gives reverse's shared memory, and the kernel of matmul is a template's instance."""
    assert expected.source.read(FOLDER / "reverse.toml").file.shared == 4 * expected.given("reverse")["threads"]
    assert list(code.read(cubin("matmul")).sections) == ["_Z6matmulILi16EEvPKfS1_Pfi"]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_computes_what_numpy_gives(name):
    """Each kernel, run in program order, leaves what is expected of it; the memory before the launch is not that."""
    kernel = prepared(cubin(name))
    assert all(one.all() for one in right(kernel, interpret(kernel).memory))
    assert not all(one.all() for one in right(kernel, memory.image(kernel)))


@pytest.mark.parametrize("name", expected.RESULTS)
def test_the_files_hold_what_numpy_computes(name):
    """Each .npy file has what `python examples/cuda/expected.py` writes now, in a few KB."""
    files = expected.files(name)
    assert sorted(FOLDER.glob(f"{name}.*.npy")) == sorted(files)
    for path, values in files.items():
        found = np.load(path)
        assert found.dtype == values.dtype
        assert np.array_equal(found, values)
        assert path.stat().st_size < 5000


def test_halves_are_rounded_once():
    """axpy_half leaves halves that are a x + y rounded once, as HFMA2 does."""
    kernel, given = prepared(cubin("axpy_half")), expected.given("axpy_half")
    x, y = (given[name].astype(np.float64) for name in ("x", "y"))
    (buffer,) = [one for one in kernel.buffers if one.name == "y"]
    left = memory.view(interpret(kernel).memory, buffer, memory.bases(kernel.buffers)["y"])
    assert np.array_equal(left, (given["a"] * x + y).astype(np.float16))


@pytest.mark.jit
@pytest.mark.parametrize("name", NAMES)
def test_a_report_by_line_in_one_command(name, capsys):
    """`gpusim report KERNEL --by line` has each line of the source that instructions come from, with its text."""
    assert execute(["report", cubin(name), "--by", "line", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    texts = {one["line"]: one["text"] for one in reported["lines"] if one["file"].endswith(f"{name}.cu")}
    source = (FOLDER / f"{name}.cu").read_text().splitlines()
    assert len(texts) > 1
    assert texts == {line: source[line - 1].strip() for line in texts}
    (section,) = code.read(cubin(name)).sections.values()
    made = {one.source.line for one in section.instructions if one.source.file.endswith(f"{name}.cu")}
    assert made == {*texts}
    assert reported["missing"] == []


@pytest.mark.parametrize("name", [one if one in SHORT else pytest.param(one, marks=pytest.mark.jit) for one in NAMES])
def test_a_run_finds_the_values_right(name, capsys):
    """`gpusim run KERNEL` times it, in plain Python too, and finds each expected value right."""
    assert execute(["run", cubin(name)]) == 0
    assert re.search(r"^values +right: ", capsys.readouterr().out, re.M)


@needs_nvcc
@pytest.mark.parametrize("architecture", LATER)
@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_an_example_for_a_later_architecture_computes_what_numpy_gives(path, architecture):
    """Compiled for it, each kernel leaves in program order what is expected of it."""
    kernel = prepared(str(path), architecture=architecture)
    assert kernel.target == Target("nvidia", architecture)
    assert all(one.all() for one in right(kernel, interpret(kernel).memory))
    assert not all(one.all() for one in right(kernel, memory.image(kernel)))


@needs_nvcc
@pytest.mark.jit
@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_both_engines_find_the_values_of_an_rtx_5090_right(path, engine, capsys):
    """Compiled for an RTX 5090 and timed on it, each expected value is right in both engines."""
    assert execute(["run", str(path), "--machine", "rtx5090", "--engine", engine]) == 0
    assert re.search(r"^values +right: ", capsys.readouterr().out, re.M)


@needs_nvcc
def test_the_time_of_an_architecture_without_a_machine_is_refused(capsys):
    """One line says that no machine executes the code, and what to do."""
    assert execute(["run", str(FOLDER / "reverse.cu"), "--arch", "121"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"error: no machine executes code for sm_121; compile for .*sm_120, or name a machine .*", line)


@needs_nvcc
@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_the_cubins_are_what_the_compiler_makes(path):
    """The compiler makes of each source the instructions of the cubin beside it, control codes and lines too."""
    flags = expected.source.read(path.with_suffix(".toml")).file.nvcc_flags
    assert alike(path, code.read(cubin(path.stem)), flags)
