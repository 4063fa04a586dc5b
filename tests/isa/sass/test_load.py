"""Kernels from the cubins of data/variables.cu; their instructions are replaced where a test needs none."""

import re
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from interpreter import frame

from isa import memory
from isa.architecture import Target
from isa.errors import UserError
from isa.generators import iota_fill
from isa.instruction import Instruction
from isa.kernel import Buffer
from isa.nvidia.abi import load
from isa.nvidia.abi.launch import WINDOW, LaunchError, LaunchState, Value, pointer
from isa.nvidia.abi.on_chip import on_chip
from isa.nvidia.file import code
from isa.nvidia.lowering import lower
from isa.operands.operand import BankConstant, Register
from isa.program import CODE_BYTES, Program
from isa.reading.origin import Origin
from isa.table import TABLE
from isa.text import listing

DATA = Path(__file__).with_name("data")
BASE = {75: 0x160, 80: 0x160, 90: 0x210}
BUFFERS = (Buffer("x", "f4", 100, iota_fill()),)
EMPTY = listing.read("EXIT\n").program


@pytest.fixture(autouse=True)
def resources(monkeypatch):
    """Replace the lowering by an empty program, and return what it was asked for."""
    asked = {}

    def program(_section, places, *, registers, shared, local, **_):
        asked.update(places=places, registers=registers, shared=shared, local=local)
        return Program(EMPTY.instructions, shared_bytes=shared, local_bytes=local, declared_registers=registers)

    monkeypatch.setattr(lower, "program", program)
    return asked


def loaded(architecture, **changes):
    """Return the kernel `flip` of an architecture, launched with 2 x 3 blocks of 32 threads."""
    found = code.read(DATA / f"sm_{architecture}.cubin")
    values = [pointer(BUFFERS, "x"), *(Value(struct.pack(f"<{kind}", 7), 1) for kind in "ibd")]
    state = LaunchState("flip", (2, 3, 1), (32, 1, 1), 0, load.arguments(found, "flip", values), BUFFERS)
    return load.kernel(found, replace(state, **changes))


@pytest.mark.parametrize("architecture", BASE)
def test_bank_0_has_sizes_stack_and_parameters(architecture):
    """Sizes come first, then windows, the stack's top at 0x28, and the parameters at the architecture's base."""
    found = loaded(architecture)
    bank, base = found.banks[0], BASE[architecture]
    assert struct.unpack_from("<6I", bank) == (32, 1, 1, 2, 3, 1)
    assert struct.unpack_from("<3Q", bank, 0x18) == (load.SHARED_WINDOW, load.LOCAL_WINDOW, found.program.local_bytes)
    address = WINDOW + memory.bases(found.buffers)["x"]
    assert struct.unpack_from("<Qibxxxd", bank, base) == (address, 7, 7, 7.0)
    assert len(bank) % 16 == 0


@pytest.mark.parametrize("architecture", BASE)
def test_the_number_of_sms(architecture):
    """Bank 0 has it at 0x10c, and so has the bank's buffer; for another machine only it is another one."""
    found = loaded(architecture, sms=132)
    other = on_chip(found, 108)
    for kernel, sms in ((found, 132), (other, 108)):
        (word,) = struct.unpack_from("<I", kernel.banks[0], 0x10C)
        place = memory.bases(kernel.buffers).get("c[0x0]")
        image = memory.image(kernel).view(np.uint8)
        assert (word, kernel.sms) == (sms, sms)
        assert place is None or image[place : place + len(kernel.banks[0])].tobytes() == kernel.banks[0]
    assert on_chip(other, 132).banks == found.banks
    assert on_chip(found, 108) is other  # what follows from it is kept with it
    plain = loaded(architecture)
    assert on_chip(plain, 108) is plain


def test_blocks_without_time_are_on_sms_in_turn():
    """Block 5 of a launch for 4 SMs is on SM 1; SR_VIRTID has that in its bits from 20 on."""
    specials = frame.specials(loaded(90, sms=4), 5)
    assert {int(specials["NSMID"][0, 0]), int(specials["SMID"][0, 0])} == {4, 1}
    assert int(specials["VIRTID"][0, 0]) == 1 << 20


@pytest.mark.parametrize("architecture", BASE)
def test_variables_are_in_banks_and_memory(architecture):
    """Bank 3 is `table`; bank 4 has the addresses of `counts` and `start`, at which the image has their values."""
    found = loaded(architecture)
    assert struct.unpack("<4f", found.banks[3]) == (1, 2, 3, 4)
    counts, start = (address - found.window for address in struct.unpack("<2Q", found.banks[4]))
    image = memory.image(found).view(np.uint8)
    assert image[start : start + 12].view("f4").tolist() == [7, 8, 9]
    assert not image[counts : counts + 20].any()
    assert image[memory.bases(found.buffers)["x"] :][:400].view("f4").tolist() == list(range(100))


@pytest.mark.parametrize(("architecture", "shared"), [(75, 128), (80, 128), (90, 1152)])
def test_resources(resources, architecture, shared):
    """Shared memory is what is declared, kept by the system and asked for; `flip` calls, so it has a stack."""
    found = loaded(architecture, dynamic_shared=30)
    assert resources["shared"] == shared + 32
    assert resources["registers"] == found.program.registers == 24
    assert resources["local"] == 1024
    assert loaded(architecture, stack=2048).program.local_bytes == 2048
    assert (found.name, found.target, found.window) == ("flip", Target("nvidia", architecture), WINDOW)


@pytest.mark.parametrize("architecture", BASE)
def test_pointers_with_initial_values(architecture):
    """A pointer in global memory and one in bank 3 have the address of an element; jump tables are bank 2.

    A function of the system has a place behind the code.
    """
    found = code.read(DATA / f"launch_{architecture}.cubin")
    values = [pointer(BUFFERS, "x"), Value(bytes(4), 4)]
    state = LaunchState("dense", (1, 1, 1), (32, 1, 1), 0, load.arguments(found, "dense", values), BUFFERS)
    kernel = load.kernel(found, state)
    first = memory.bases(kernel.buffers)[load.VARIABLES]
    where = {name: kernel.window + first + one.offset for name, one in found.cubin.variables.items()}
    image = memory.image(kernel).view(np.uint8)
    third = int(image[where["third"] - kernel.window :][:8].view(np.uint64)[0])
    assert third == where["counts"] + 8
    assert image[third - kernel.window :][:4].view("i4") == 3
    second = struct.unpack_from("<Q", kernel.banks[3], found.cubin.variables["second"].offset)
    assert second == (where["pair"] + 8,)
    assert kernel.banks[2].startswith(found.cubin.functions["dense"].bank_2)
    addresses = {name: struct.unpack_from("<Q", kernel.banks[4], at)[0] for at, name in found.cubin.addresses.items()}
    behind = 16 * len(found.sections["dense"].instructions)
    assert addresses == {name: where.get(name, behind) for name in addresses}
    assert addresses["vprintf"] == behind


def test_a_grid_has_whole_clusters():
    """A kernel with clusters of 4 x 2 blocks takes 8 x 2 blocks and not 6 x 2."""
    found = code.read(DATA / "launch_90.cubin")
    state = LaunchState("clustered", (8, 2, 1), (1, 1, 1), 0, load.arguments(found, "clustered", [Value(bytes(8), 8)]))
    assert load.kernel(found, state).blocks == 16
    with pytest.raises(LaunchError, match="clustered has clusters of 4 x 2 x 1 blocks; take a grid of whole ones"):
        load.kernel(found, replace(state, grid=(6, 2, 1)))


def test_banks_that_are_loaded_from_lie_in_memory(resources):
    """Where the code has LDC, the bank has a buffer with the same bytes, at the address that the lowering gets."""
    found = loaded(90)
    image = memory.image(found).view(np.uint8)
    assert resources["places"]
    for bank, place in resources["places"].items():
        assert image[place : place + len(found.banks[bank])].tobytes() == found.banks[bank]


def test_a_text_has_the_layout_of_c():
    """Of a dump, which has no table, parameters lie as C lays them out, and the base is the architecture's."""
    found = code.read(DATA / "sm_80.sass")
    values = [Value(struct.pack("<i", 1), 4), Value(struct.pack("<d", 2), 8)]
    state = LaunchState("flip", (1, 1, 1), (32, 1, 1), arguments=load.arguments(found, "flip", values))
    kernel = load.kernel(found, state)
    assert kernel.banks.keys() == {0}
    assert struct.unpack_from("<i4xd", kernel.banks[0], 0x160) == (1, 2.0)


def test_memory_has_32_bit_addresses():
    """Buffers that fill 4 GiB leave no room for variables, which is said in a line."""
    with pytest.raises(LaunchError, match="more than a 32-bit address reaches; take fewer elements") as caught:
        loaded(90, buffers=(Buffer("x", "u1", 2**32 - 10000),))
    assert caught.value.part == "arguments"


@pytest.mark.parametrize(
    ("changes", "part", "message"),
    [
        ({"block": (129, 1, 1)}, "block", r"129 threads; flip takes 128 at most \(its __launch_bounds__\)"),
        ({"block": (32, 0, 1)}, "block", "32 x 0 x 1 threads"),
        ({"grid": (1, 65536, 1)}, "grid", "65536 blocks in y; a grid has 1 to 65535"),
        ({"grid": (0, 1, 1)}, "grid", "0 blocks in x; a grid has 1 to 2147483647"),
    ],
)
def test_launches_that_cuda_refuses(changes, part, message):
    """Sizes beyond those of CUDA, or of the kernel's own bounds, are refused; the error says which part is wrong."""
    with pytest.raises(LaunchError, match=message) as caught:
        loaded(90, **changes)
    assert caught.value.part == part


def test_a_bank_that_nobody_has_is_refused(monkeypatch):
    """A constant of a bank that neither the cubin nor the launch has refuses the load, with its place."""
    asking = Instruction(TABLE["MOV"], (Register(1), BankConstant(13, 16)))
    program = Program((asking, *EMPTY.instructions), origins=(Origin("flip", 0), Origin("flip", CODE_BYTES)))
    monkeypatch.setattr(lower, "program", lambda *_, **__: program)
    message = re.escape("flip+0x0: c[0xd][0x10]: neither the file nor the launch has this bank; ")
    with pytest.raises(UserError, match=message):
        loaded(90)
