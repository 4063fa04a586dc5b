"""Cubins of data/variables.cu, whose facts are read off its source and the CUDA ABI."""

import struct
from pathlib import Path

import pytest

from isa.errors import UserError
from isa.sass.cubin import ARCHITECTURES, CubinError, Parameter, Variable, read

DATA = Path(__file__).with_name("data")
BASE = {75: 0x160, 80: 0x160, 90: 0x210}  # of the parameters, in constant bank 0
RESERVED = {75: 0, 80: 0, 90: 1024}  # bytes of shared memory that the system keeps


def contents(architecture):
    """Return the cubin of that architecture."""
    name = f"sm_{architecture}.cubin"
    return read((DATA / name).read_bytes(), name)


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


def test_other_files_are_refused():
    """Text, a host's executable and an architecture with another encoding are refused in a line that says why."""
    for data, words in ((b"hello", "no cubin, or a damaged one"), (Path("/bin/sh").read_bytes(), "not for a GPU")):
        with pytest.raises(CubinError, match=rf"^k: .*{words}"):
            read(data, "k")
    data = bytearray((DATA / "sm_90.cubin").read_bytes())
    data[49] = 120  # of the flags
    with pytest.raises(CubinError, match=r"^k: machine code for sm_120; this reads sm_75, .* sm_90: compile for one"):
        read(bytes(data), "k")
    assert 120 not in ARCHITECTURES


@pytest.mark.parametrize("kept", range(0, 12208, 611))
def test_a_cut_file_is_refused(kept):
    """A cubin that ends anywhere is refused, and no other error occurs."""
    with pytest.raises(UserError, match=r"^k: "):
        read((DATA / "sm_90.cubin").read_bytes()[:kept], "k")


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_file_is_read_or_refused(seed):
    """A cubin with a wrong byte is either read or refused, and no other error occurs."""
    data = bytearray((DATA / "sm_80.cubin").read_bytes())
    place = seed * 7919 % len(data)
    data[place] ^= 1 << seed % 8 | 0x80
    try:
        read(bytes(data), "k")
    except UserError as error:
        assert str(error).startswith("k: ")  # noqa: PT017  (either way is right)
