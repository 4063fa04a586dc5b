"""Pointers that variables hold from the beginning, in code for debuggers: the cubins of data/pointers.cu."""

import lzma
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from interpreter.interpret import interpret

import gpusim
from isa import memory
from isa.errors import UserError
from isa.nvidia.abi import load
from isa.nvidia.abi.launch import LaunchState, Value
from isa.nvidia.file import code
from isa.nvidia.file.dump import Section

DATA = Path(__file__).with_name("data")
MACHINES = {75: "rtx2080ti", 80: "a100", 86: "rtx3090", 90: "h200"}
LANES = 32
TABLE = "table holds the address of "


def machine_code(architecture):
    """Return the bytes of the cubin of an architecture."""
    return lzma.decompress((DATA / f"pointers_{architecture}.cubin.xz").read_bytes())


def left(folder, architecture, name):
    """Return what a kernel leaves in an array of 32 numbers, compiled and by the interpreter."""
    path = folder / "pointers.cubin"
    path.write_bytes(machine_code(architecture))
    function, o = gpusim.RawModule(path=path).get_function(name), np.zeros(LANES, np.uint32)
    kernel = function((1,), (LANES,), (o,), machine=MACHINES[architecture]).kernel
    words, (own,) = interpret(kernel).memory, [x for x in kernel.buffers if x.name.startswith("argument")]
    assert memory.view(words, own, memory.bases(kernel.buffers)[own.name]).tobytes() == o.tobytes()
    return o


@pytest.mark.jit
@pytest.mark.parametrize("architecture", MACHINES)
def test_tables_of_functions_are_called(tmp_path, architecture):
    """Functions come from a __device__ and a __constant__ table, a number by a pointer to a __constant__ variable."""
    i = np.arange(LANES, dtype=np.uint32)
    thrice, flipped = 3 * i + 1, i ^ 0x55
    expected = np.where(i & 1, flipped, thrice) + 1000 * np.where(i >> 1 & 1, thrice, flipped) + 6_000_000
    assert left(tmp_path, architecture, "calls").tolist() == expected.tolist()


@pytest.mark.jit
@pytest.mark.parametrize("architecture", MACHINES)
def test_virtual_functions_are_called(tmp_path, architecture):
    """Odd lanes have a cube, even ones a square, which inherits one of its functions."""
    i = np.arange(LANES)
    expected = 10 * i * i * np.where(i & 1, 6, 1) + np.where(i & 1, 6, 4)
    assert left(tmp_path, architecture, "areas").tolist() == expected.tolist()


def test_a_kernel_that_calls_none_has_none_behind_it():
    """Its pointers still differ, and are no null."""
    found = code.of_cubin(machine_code(90), "pointers.cubin")
    kernel = launched(found, "stores")
    first = memory.bases(kernel.buffers)[load.VARIABLES] + found.cubin.variables["table"].offset
    pointers = memory.image(kernel).view(np.uint8)[first : first + 16].view(np.uint64)
    assert len(kernel.program) == len(found.sections["stores"].instructions)
    assert len({0, *pointers.tolist()}) == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": 6}, f"{TABLE}thrice as relocation 0x6, which is not known here"),
        ({"symbol": "other"}, f"{TABLE}other, which is not in the file"),
    ],
)
def test_an_address_that_is_not_known_is_refused(changes, message):
    """Neither a kind of relocation nor a symbol that nobody knows leaves a null: the variable is named."""
    found = code.of_cubin(machine_code(80), "pointers.cubin")
    relocations = list(found.cubin.relocations)
    at = next(i for i, x in enumerate(relocations) if x.section == ".nv.global.init" and "thrice" in x.symbol)
    relocations[at] = replace(relocations[at], **changes)
    with pytest.raises(UserError, match=message):
        launched(replace(found, cubin=replace(found.cubin, relocations=tuple(relocations))), "calls")


def test_a_function_with_constants_of_its_own_is_refused():
    """A kernel that calls by pointers can't have a function that reads another bank 2; others don't care."""
    found = code.of_cubin(machine_code(80), "pointers.cubin")
    name = next(x for x in found.sections if "thrice" in x)
    section = found.sections[name]
    found.sections[name] = Section([section.instructions[0]._replace(text="LDC R4, c[0x2][R4]")], section.labels)
    with pytest.raises(UserError, match="holds the address of thrice, which has constants of its own in bank 2"):
        launched(found, "calls")
    assert launched(found, "stores").program


def launched(found, name):
    """Return the kernel of a launch of one thread whose only argument is null."""
    arguments = load.arguments(found, name, [Value(bytes(8), 8)])
    return load.kernel(found, LaunchState(name, (1, 1, 1), (1, 1, 1), arguments=arguments))
