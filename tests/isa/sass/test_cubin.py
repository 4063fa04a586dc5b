"""Cubins of data/variables.cu, whose facts are read off its source and the CUDA ABI."""

import struct
from pathlib import Path

import pytest

from isa.architecture import NVIDIA
from isa.errors import UserError
from isa.nvidia.file.cubin import CubinError, Parameter, Relocation, Variable, read

DATA = Path(__file__).with_name("data")
BASE = {75: 0x160, 80: 0x160, 90: 0x210}  # of the parameters, in constant bank 0
RESERVED = {75: 0, 80: 0, 90: 1024}  # bytes of shared memory that the system keeps


def contents(architecture, file="sm_{}.cubin"):
    """Return the cubin of that architecture."""
    name = file.format(architecture)
    return read((DATA / name).read_bytes(), name)


def launch(architecture):
    """Return the cubin of data/launch.cu for that architecture."""
    return contents(architecture, "launch_{}.cubin")


@pytest.mark.parametrize("architecture", BASE)
def test_kernels_and_their_parameters(architecture):
    """Kernels are the `__global__` functions; places and sizes of parameters are those of C, from the ABI's base."""
    found = contents(architecture)
    assert found.architecture == architecture
    assert set(found.kernels) == {"flip", "_Z5pairs4Pairs"}
    flip, pairs = (found.functions[name].launch for name in ("flip", "_Z5pairs4Pairs"))
    assert flip.parameters == (Parameter(0, 8), Parameter(8, 4), Parameter(12, 1), Parameter(16, 8))
    assert pairs.parameters == (Parameter(0, 24), Parameter(24, 2))
    assert (flip.base, flip.size, flip.most_threads, flip.exact_threads) == (BASE[architecture], 24, 128, 0)
    assert (pairs.base, pairs.size, pairs.most_threads) == (BASE[architecture], 26, 0)


def test_a_kernel_without_parameters():
    """Its parameters would begin at the ABI's base, and there are none."""
    found = contents(90, "without.cubin").functions["without"].launch
    assert (found.base, found.size, found.parameters) == (BASE[90], 0, ())


@pytest.mark.parametrize("architecture", BASE)
def test_resources(architecture):
    """Shared memory is the 128 bytes of `tile` and the system's; code has 16 bytes an instruction."""
    functions = contents(architecture).functions
    assert functions["flip"].shared_bytes == 128 + RESERVED[architecture]
    assert functions["_Z5pairs4Pairs"].shared_bytes == 0
    assert 8 < functions["flip"].registers <= 64
    assert all(one.code and len(one.code) % 16 == 0 for one in functions.values())


@pytest.mark.parametrize("architecture", BASE)
def test_a_function_lies_inside_the_kernel_that_calls_it(architecture):
    """`halved` is no kernel; its code is a part of the section of `flip`, at its start there."""
    functions = contents(architecture).functions
    (name,) = functions.keys() - {"flip", "_Z5pairs4Pairs"}
    inner, outer = functions[name], functions["flip"]
    assert (inner.launch, inner.home) == (None, "flip")
    assert inner.code in outer.code
    assert outer.code.index(inner.code) == inner.start


@pytest.mark.parametrize("architecture", BASE)
def test_variables(architecture):
    """Variables have their initial values, zeros where there are none, and bank 4 holds the addresses of the others."""
    found = contents(architecture)
    assert found.variables["table"] == Variable("table", constant=True, offset=0, size=16)
    assert struct.unpack("<4f", found.constants) == (1, 2, 3, 4)
    start, counts = found.variables["start"], found.variables["counts"]
    assert struct.unpack_from("<3f", found.memory, start.offset) == (7, 8, 9)
    assert (counts.size, found.memory[counts.offset : counts.offset + counts.size]) == (20, bytes(20))
    assert found.address_bytes == 16
    assert found.addresses == {0: "counts", 8: "start"}


@pytest.mark.parametrize("architecture", BASE)
def test_jump_tables(architecture):
    """Bank 2 of a kernel with a dense switch holds the offsets of its cases, which the attributes name as well."""
    dense = launch(architecture).functions["dense"]
    words = struct.unpack(f"<{len(dense.bank_2) // 4}I", dense.bank_2)
    targets = [target for found in dense.branch_targets.values() for target in found]
    assert len(targets) >= 8
    assert set(targets) <= set(words)
    assert all(place % 16 == 0 and place < len(dense.code) for place in (*targets, *dense.branch_targets))


@pytest.mark.parametrize("architecture", BASE)
def test_function_pointers(architecture):
    """A pointer to a function is a place in bank 2 of each kernel, which has the function's offset in its section."""
    found = launch(architecture)
    pointers = struct.unpack_from("<2Q", found.memory, found.variables["table"].offset)
    inner = {name.rpartition("$")[2]: one for name, one in found.functions.items() if one.home == "points"}
    bank = inner["points"].bank_2
    offsets = [struct.unpack_from("<Q", bank, place)[0] for place in pointers]
    assert offsets == [inner["_Z5twicef"].start, inner["_Z6squaref"].start]


@pytest.mark.parametrize("architecture", BASE)
def test_addresses_that_a_loader_fills(architecture):
    """Pointers with initial values are relocations with what is added; the variables lie as their types want."""
    found = launch(architecture)
    third, pair = found.variables["third"], found.variables["pair"]
    assert {one for one in found.relocations if one.section != ".nv.constant4"} == {
        Relocation(".nv.global.init", third.offset, kind=4, symbol="counts", addend=8),
        Relocation(".nv.constant3", found.variables["second"].offset, kind=4, symbol="pair", addend=8),
    }
    assert set(found.addresses.values()) == {"letter", "pair", "counts", "third", "table", "$str", "vprintf"}
    assert (pair.offset % 8, found.memory_alignment) == (0, 8)
    assert found.memory[pair.offset : pair.offset + pair.size] == bytes(16)
    assert len(found.memory) == pair.offset + pair.size


@pytest.mark.parametrize("architecture", BASE)
def test_stack_and_shared_memory(architecture):
    """The stack has the 8 floats of `mine`; shared memory is that of `fixed`, up to where an aligned one can follow."""
    windows = launch(architecture).functions["windows"]
    assert (windows.stack_bytes, windows.least_stack_bytes) == (32, 32)
    assert windows.shared_bytes == 32 + RESERVED[architecture]
    assert windows.barriers == 1


@pytest.mark.parametrize("architecture", BASE)
def test_functions_of_the_system(architecture):
    """A function that the file doesn't have, such as that behind `printf`, is external, and none of its functions."""
    found = launch(architecture)
    assert found.externals == ("vprintf",)
    assert "vprintf" not in found.functions


def test_clusters():
    """Blocks of a cluster are those of `__cluster_dims__`, at most those of `__launch_bounds__`."""
    found = {name: launch(90).functions[name].launch for name in ("clustered", "bounded", "dense")}
    assert [one.cluster for one in found.values()] == [(4, 2, 1), (), ()]
    assert [one.most_cluster_blocks for one in found.values()] == [0, 8, 0]
    assert found["bounded"].most_threads == 128


def test_code_that_is_not_linked():
    """A file with code that is still to be linked is refused, with what to do."""
    data = bytearray((DATA / "sm_90.cubin").read_bytes())
    data[16] = 1  # the type, of an object file
    with pytest.raises(CubinError, match=r"^k: machine code that is not linked; compile without -rdc=true, or link"):
        read(bytes(data), "k")


@pytest.mark.parametrize("architecture", BASE)
def test_parameters_among_the_words_of_the_driver(architecture):
    """A cubin whose parameters begin where the driver's words lie is refused, with both places."""
    data, base = (DATA / f"sm_{architecture}.cubin").read_bytes(), BASE[architecture]
    whole = struct.pack("<2H", base, 24)  # base and bytes of flip's parameters (EIATTR_PARAM_CBANK)
    assert data.count(whole) == 1
    with pytest.raises(CubinError, match=rf"^k: .*damaged one \(flip has its parameters at 0x100, before {base:#x}\)"):
        read(data.replace(whole, struct.pack("<2H", 0x100, 24)), "k")


def test_other_files_are_refused():
    """Text, a host's executable and an architecture with another encoding are refused in a line that says why."""
    for data, words in ((b"hello", "no cubin, or a damaged one"), (Path("/bin/sh").read_bytes(), "not for a GPU")):
        with pytest.raises(CubinError, match=rf"^k: .*{words}"):
            read(data, "k")
    data = bytearray((DATA / "sm_90.cubin").read_bytes())
    data[49] = 101  # of the flags
    with pytest.raises(CubinError, match=r"^k: machine code for sm_101; this reads sm_75, .* sm_121: compile for one"):
        read(bytes(data), "k")
    assert 101 not in NVIDIA


@pytest.mark.parametrize("kept", range(0, 12208, 611))
def test_a_cut_file_is_refused(kept):
    """A cubin that ends anywhere is refused, and no other error occurs."""
    with pytest.raises(UserError, match=r"^k: "):
        read((DATA / "sm_90.cubin").read_bytes()[:kept], "k")


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("file", ["sm_80.cubin", "launch_75.cubin", "launch_90.cubin"])
def test_a_damaged_file_is_read_or_refused(file, seed):
    """A cubin with a wrong byte is either read or refused, and no other error occurs."""
    data = bytearray((DATA / file).read_bytes())
    place = seed * 7919 % len(data)
    data[place] ^= 1 << seed % 8 | 0x80
    try:
        read(bytes(data), "k")
    except UserError as error:
        assert str(error).startswith("k: ")  # noqa: PT017  (either way is right)
