"""The functions of the system: their text is what the compiler makes of their source; kernels get what they call."""

import lzma
from pathlib import Path

import pytest
import system_code

from isa.nvidia.compiler import tools
from isa.nvidia.file import code as machine_code
from isa.nvidia.system import code

DATA = Path(__file__).with_name("data")


@pytest.mark.skipif(not (tools.installed("nvcc") and tools.installed("nvdisasm")), reason="without a compiler")
def test_the_text_is_that_of_the_source():
    """functions.sass is what nvcc 13.0 makes of functions.cu."""
    if "release 13.0" not in tools.version("nvcc"):
        pytest.skip("another compiler")
    assert system_code.text() == (system_code.FOLDER / code.FILE).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def printing(tmp_path_factory):
    """The code of printing.cu, whose kernels call different functions."""
    path = tmp_path_factory.mktemp("code") / "printing.cubin"
    path.write_bytes(lzma.decompress((DATA / "printing_90.cubin.xz").read_bytes()))
    return machine_code.read(path)


@pytest.mark.parametrize(
    ("kernel", "names"),
    [
        ("fails", {"vprintf"}),
        ("flood", {"vprintf"}),
        ("heap", {"malloc", "free"}),
        ("clocks", {"malloc", "free"}),
        ("calls", {"free"}),  # a destructor, of a table of the file, calls it
    ],
)
def test_a_kernel_has_the_functions_that_it_calls(printing, kernel, names):
    """No others of the file, and the memory that these work with."""
    whole = code.with_functions(printing, kernel)
    assert set(whole.cubin.functions) - set(printing.cubin.functions) == names
    expected = {code.RING} if "vprintf" in names else {code.HEAP} if names else set()
    assert code.memory_of(whole, kernel) == expected


def test_code_without_calls_of_the_system_stays_as_it_is():
    """The same object: nothing is added to a program, beside a kernel that prints."""
    whole = machine_code.read(DATA / "launch_90.cubin")
    assert code.with_functions(whole, "prints") is not whole
    assert all(code.with_functions(whole, kernel) is whole for kernel in ("points", "windows", "recurse", "dense"))
