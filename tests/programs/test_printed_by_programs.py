"""Kernels of whole programs print, allocate and assert: texts are in order with the program's own, the heap stays."""

import shutil
from pathlib import Path

import pytest

from gpusim.commands.main import execute
from isa.nvidia.compiler import tools

SOURCES = Path(__file__).parent / "sources"
pytestmark = [
    pytest.mark.jit,
    pytest.mark.skipif(
        not (tools.installed("nvcc") and shutil.which("g++")), reason="nvcc (extra cuda) or g++ is not installed"
    ),
]
PRINTED = """\
host: heap of 8388608
host: before its lines
block 0 thread 0
block 0 thread 1
block 1 thread 0
block 1 thread 1
kernel: 24 nodes, sum 36
host: 36
before 1
host: 710 device-side assert triggered
"""


def test_a_program_prints_in_order_and_keeps_its_heap(capfd):
    """What kernels print comes with the next synchronising call, as CUDA has it; assertions go to the error stream."""
    assert execute(["exec", str(SOURCES / "system.cu"), "--time", "none"]) == 3
    captured = capfd.readouterr()
    assert captured.out.startswith(PRINTED)
    line = "system.cu:37: void fail(int): block: [0,0,0], thread: [0,0,0] Assertion `n == 0` failed.\n"
    assert line in captured.err


@pytest.mark.parametrize("flag", ["-O3", "-rdc=true", "-G"])
def test_kernels_call_what_others_have_stored(capfd, flag):
    """Virtual functions of objects on the heap, and pointers to functions in variables of both kinds and arguments."""
    assert execute(["exec", str(SOURCES / "pointers.cu"), "--time", "none", f"--nvcc-flags={flag}"]) == 0
    assert capfd.readouterr().out.startswith("9 10 16 1 42 13 42 4\n9 10 16 1 13 42 13 4\n")
