"""Blocks of an SM against `cuda_occupancy.h`, the calculator that comes with CUDA: its table, and compiled here."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

import pytest
from draws import few
from occupancy_table import TABLE, Launch, blocks_at, calculated, cases, steps, table

from gpusim.machine.capability import sm_limits
from gpusim.machine.machine import Machine, load
from gpusim.machine.occupancy import occupancy
from isa.errors import UserError
from isa.kernel import Kernel
from isa.nvidia.compiler import tools
from isa.program import Program

# The machine of each compute capability that has one.
CARDS = {
    "2.0": "c2050",
    "2.1": "gtx460",
    "3.0": "gtx680",
    "3.5": "k20m",
    "5.2": "gtx980",
    "7.0": "v100",
    "7.5": "rtx2080ti",
    "8.0": "a100",
    "8.6": "rtx3090",
    "9.0": "h200",
}
SOURCE = TABLE.with_suffix(".cpp")


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


def machine_of(name: str) -> Machine:
    """Return a machine with the limits of a compute capability: a C2050 of Fermi's, else a Titan RTX."""
    return load("c2050" if name.startswith("2.") else "titan-rtx", sm_limits()[name].numbers())


def blocks(machine: Machine, launches: Iterable[Launch]) -> list[int]:
    """Return the blocks of each launch here, none where it is refused."""
    found = []
    for registers, threads, shared in launches:
        program = Program((), declared_registers=registers, shared_bytes=shared)
        try:
            found.append(occupancy(Kernel("probe", program, (1, 1, 1), (threads, 1, 1)), machine).blocks)
        except UserError:
            found.append(0)
    return found


def rows(name: str) -> dict[str, list[tuple[int, int]]]:
    """Return the steps of a compute capability in the table."""
    return {of: found for one, of, found in table() if one == name}


def test_the_table_has_every_architecture_from_2_0_to_12_0():
    """Each compute capability has rows of blocks of 1 to 32 warps, and of shared memory."""
    assert {name for name, _, _ in table()} == set(sm_limits()) >= {"2.0", "8.9", "12.0"}
    assert all(set(rows(name)) == {*map(str, range(1, 33)), "shared"} for name in sm_limits())


@pytest.mark.parametrize("name", sm_limits())
def test_every_number_of_registers_warps_and_bytes(name):
    """On every architecture an SM holds as many blocks as NVIDIA's calculator says, for each number of registers.

    So it does for each number of warps of a block, and of bytes of shared memory about each step (whole words).
    """
    machine, known = machine_of(name), rows(name)
    for of, launches in cases(sm_limits()[name]):
        edges = {end + off for end, _ in known[of] for off in (-4, 0, 4)} | {0}
        some = few(launches, 8) if of != "shared" else [launches[i] for i in sorted(edges & set(range(len(launches))))]
        amounts = [shared if of == "shared" else registers for registers, _, shared in some]
        assert blocks(machine, some) == [blocks_at(known[of], amount) for amount in amounts], (name, of)


@pytest.mark.parametrize(("name", "card"), CARDS.items())
def test_machine_files_have_the_limits_of_their_capability(name, card):
    """Machine files hold as many blocks as machines of their capability, and have the same limits."""
    own, wanted = load(card).limits, machine_of(name).limits
    launches = [(registers, 32 * warps, 4 * registers * warps) for registers in (21, 40, 63) for warps in range(1, 33)]
    assert blocks(load(card), launches) == blocks(machine_of(name), launches)
    assert (own.registers_per_thread, own.shared_per_block) == (wanted.registers_per_thread, wanted.shared_per_block)


@pytest.mark.parametrize(("name", "given", "held"), [("2.0", (48, 224, 0), 2), ("8.0", (16, 32, 54 << 10), 2)])
def test_launches_that_were_counted_wrong(name, given, held):
    """Fermi allocates registers in each half of the SM; an A100 keeps 1 KB of each block: two blocks, not three."""
    assert blocks(machine_of(name), [given]) == [held]


@pytest.mark.parametrize("name", [name for name in sm_limits() if not name.startswith("2.")])
def test_the_table_is_the_calculators(calculator, name):
    """The header that is installed, compiled, gives the rows of the table."""
    known = rows(name)
    for of, launches in cases(sm_limits()[name]):
        assert steps(calculated(calculator, name, launches)) == " ".join(f"{end}:{held}" for end, held in known[of])


@pytest.mark.parametrize("name", [name for name in sm_limits() if not name.startswith("2.")])
def test_every_number_of_threads_with_all_resources(calculator, name):
    """For each number of threads, part of a warp included, with registers and shared memory that limit as much."""
    launches = [
        (registers, threads, 4 * (threads * 97 % 12000)) for threads in range(1, 1026) for registers in (21, 40, 63)
    ]
    some = few(launches, 600)
    theirs, ours = calculated(calculator, name, some), blocks(machine_of(name), some)
    assert [each for each in zip(some, theirs, ours, strict=True) if each[1] != each[2]] == []
