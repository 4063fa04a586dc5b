"""Blocks of an SM against `cuda_occupancy.h`, the calculator that comes with CUDA, compiled here."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from draws import few

from gpusim.machine.machine import load
from gpusim.machine.occupancy import occupancy
from isa.errors import UserError
from isa.kernel import Kernel
from isa.nvidia.compiler import tools
from isa.program import Program

Launch = tuple[int, int, int]  # registers of a thread, threads of a block, its bytes of shared memory
# Major and minor number, threads, registers and shared bytes of an SM, shared bytes of a block and those reserved: as
# the CUDA C++ Programming Guides 8.0 and 13.0 have them, technical specifications of each compute capability.
CARDS = {
    "gtx680": (3, 0, 2048, 65536, 48 << 10, 48 << 10, 0),
    "k20m": (3, 5, 2048, 65536, 48 << 10, 48 << 10, 0),
    "gtx980": (5, 2, 2048, 65536, 96 << 10, 48 << 10, 0),
    "v100": (7, 0, 2048, 65536, 96 << 10, 96 << 10, 0),
    "rtx2080ti": (7, 5, 1024, 65536, 64 << 10, 64 << 10, 0),
    "a100": (8, 0, 2048, 65536, 164 << 10, 163 << 10, 1 << 10),
    "rtx3090": (8, 6, 1536, 65536, 100 << 10, 99 << 10, 1 << 10),
    "h200": (9, 0, 2048, 65536, 228 << 10, 227 << 10, 1 << 10),
}
SOURCE = Path(__file__).parent / "cuda_occupancy.cpp"


@pytest.fixture(scope="module")
def calculator(tmp_path_factory):
    """Return the path of NVIDIA's calculator as a program; skip the tests where it can't be compiled."""
    path = tmp_path_factory.mktemp("calculator") / "calculator"
    if not (tools.installed("nvcc") and shutil.which("g++")):
        pytest.skip("nvcc (extra cuda), whose headers have the calculator, or g++ is not installed")
    done = tools.outcome("nvcc", ["-x", "c++", "-cudart", "none", SOURCE, "-o", path], about="calculator")
    if "cuda_occupancy.h: No such file" in done.stderr:
        pytest.skip("the headers of CUDA that are installed lack cuda_occupancy.h")
    assert done.returncode == 0, done.stderr
    return path


def calculated(calculator: Path, name: str, launches: Iterable[Launch]) -> list[int]:
    """Return the blocks of each launch by NVIDIA's calculator."""
    lines = "\n".join(" ".join(map(str, one)) for one in launches)
    done = subprocess.run([calculator, *map(str, CARDS[name])], input=lines, capture_output=True, text=True, check=True)
    return [int(line) for line in done.stdout.split()]


def blocks(name: str, launches: Iterable[Launch]) -> list[int]:
    """Return the blocks of each launch here, none where it is refused."""
    machine, found = load(name), []
    for registers, threads, shared in launches:
        program = Program((), declared_registers=registers, shared_bytes=shared)
        try:
            found.append(occupancy(Kernel("probe", program, (1, 1, 1), (threads, 1, 1)), machine).blocks)
        except UserError:
            found.append(0)
    return found


def differences(calculator: Path, name: str, launches: list[Launch]) -> list[tuple[Launch, int, int]]:
    """Return the launches that differ, with NVIDIA's blocks and those here."""
    theirs, ours = calculated(calculator, name, launches), blocks(name, launches)
    return [each for each in zip(launches, theirs, ours, strict=True) if each[1] != each[2]]


@pytest.mark.parametrize("name", CARDS)
def test_every_number_of_registers_and_warps(calculator, name):
    """For each number of registers and of warps an SM holds as many blocks as NVIDIA's calculator says."""
    most = load(name).limits.registers_per_thread
    launches = [(registers, 32 * warps, 0) for registers in range(most + 1) for warps in range(1, 33)]
    assert not differences(calculator, name, few(launches, 600))


@pytest.mark.parametrize("name", CARDS)
def test_every_size_of_shared_memory(calculator, name):
    """For each number of bytes of shared memory, up to more than a block may have, so it does too."""
    sizes = sorted({max(0, size + off) for size in range(0, CARDS[name][4] + 1, 64) for off in (-4, 0, 4)})
    assert not differences(calculator, name, few([(16, 64, size) for size in sizes], 600))


@pytest.mark.parametrize("name", CARDS)
def test_every_number_of_threads_with_all_resources(calculator, name):
    """For each number of threads, part of a warp included, with registers and shared memory that limit as much."""
    launches = [
        (registers, threads, 4 * (threads * 97 % 12000)) for threads in range(1, 1026) for registers in (21, 40, 63)
    ]
    assert not differences(calculator, name, few(launches, 600))
