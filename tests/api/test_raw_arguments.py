import struct

import numpy as np
import pytest

from gpusim.api import raw_arguments
from gpusim.api.raw_arguments import Variables
from isa.errors import UserError
from isa.nvidia.abi.launch import Value
from isa.nvidia.file.signature import parameter_types

NOTHING = Variables(np.zeros(0, np.uint8), np.zeros(0, np.uint8))
PAIR = np.dtype([("a", "i4"), ("b", "f8")], align=True)


def value(argument, size=None, name=""):
    """Return the bytes of the only argument of a kernel of that mangled name, whose parameter has a size."""
    found = raw_arguments.regions([argument], NOTHING)
    buffers = raw_arguments.buffers(found)
    sizes = None if size is None else [size]
    (one,) = raw_arguments.values([argument], sizes, parameter_types(name), found, buffers, NOTHING)
    return one


@pytest.mark.parametrize(
    ("argument", "size", "name", "expected"),
    [
        (np.int32(-1), 4, "", Value(b"\xff" * 4, 4)),
        (np.float64(2.5), 8, "", Value(struct.pack("<d", 2.5), 8)),
        (np.bool_(True), 1, "", Value(b"\x01", 1)),
        (np.frombuffer(struct.pack("<i4xd", 7, 2.5), PAIR)[0], 16, "", Value(struct.pack("<i4xd", 7, 2.5), 8)),
        (np.complex64(1 + 2j), 8, "", Value(struct.pack("<2f", 1, 2), 4)),
        (b"\x01\x02", 2, "", Value(b"\x01\x02", 1)),
        (True, 1, "", Value(b"\x01", 1)),
        (-2, 2, "", Value(struct.pack("<h", -2), 2)),
        (2**32 - 1, 4, "", Value(b"\xff" * 4, 4)),
        (0, 8, "_Z1kPf", Value(bytes(8), 8)),
        (None, 8, "_Z1kPf", Value(bytes(8), 8)),
        (None, 8, "", Value(bytes(8), 8)),
        (2.5, 4, "", Value(struct.pack("<f", 2.5), 4)),
        (2.5, 8, "", Value(struct.pack("<d", 2.5), 8)),
        (2.5, 2, "", Value(struct.pack("<e", 2.5), 2)),
        (3, 4, "_Z1kf", Value(struct.pack("<f", 3), 4)),
        (3, 4, "", Value(struct.pack("<i", 3), 4)),
    ],
)
def test_scalars_have_their_bytes(argument, size, name, expected):
    """NumPy's scalars keep their type; Python's numbers get the parameter's size, and its type if the name says it."""
    assert value(argument, size, name) == expected


@pytest.mark.parametrize(
    ("argument", "size", "name", "message"),
    [
        (300, 1, "", "argument 1: 300 does not fit 1 bytes; give -128 to 255"),
        (1, 24, "", "argument 1: 1, where the parameter has 24 bytes; give a structured scalar, or bytes"),
        (1.5, 1, "", "argument 1: 1.5, where the parameter has 1 bytes; give a structured scalar, or bytes"),
        (1, None, "", r"argument 1: 1 of no known size; give numpy.int32\(1\), or what it is"),
        (1.5, 4, "_Z1ki", "argument 1: 1.5, where the parameter is of type int; give numpy.int32"),
        (np.int32(1), 4, "_Z1kf", "argument 1: numpy.int32, where the parameter is of type float; give numpy.float32"),
        (np.float64(1), 8, "_Z1kPf", r"argument 1: numpy.float64, where the parameter is of type float \*; give an a"),
        (
            np.zeros(2, np.float32),
            8,
            "_Z1kPKd",
            r"argument 1: an array of float32, where the parameter is of type const double \*; give one of float64, or "
            "a view as numpy.float64 to pass its bits",
        ),
        (np.zeros(2), 4, "_Z1ki", "argument 1: an array, where the parameter is of type int; give a number"),
        ([1, 2], 8, "", "argument 1: list; give a NumPy array, a scalar or a number"),
        (None, 4, "_Z1ki", "argument 1: NoneType; give a NumPy array"),
        (np.array([None]), 8, "", "argument 1: an array of Python objects; give one of numbers"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(argument, size, name, message):
    """What is neither array nor scalar, or of another kind than the parameter, is refused in one line."""
    with pytest.raises(UserError, match=message):
        value(argument, size, name)


def test_an_array_without_elements_is_a_null_pointer():
    """There is nothing to point at."""
    assert value(np.zeros(0)) == Value(bytes(8), 8)


def test_regions_are_joined_where_they_overlap():
    """Arrays over one memory without a common array, which only overlap, are one region; others are apart."""
    held = bytearray(64)
    first, second, third = (np.frombuffer(held, np.uint8, 16, offset) for offset in (0, 8, 32))
    found = raw_arguments.regions([first, np.zeros(4), third, second], NOTHING)
    assert [(one.name, one.stop - one.start) for one in found] == [
        ("argument1", 24),
        ("argument2", 32),
        ("argument3", 16),
    ]
    bridge = np.frombuffer(held, np.uint8, 40, 4)
    (found,) = raw_arguments.regions([first, third, bridge], NOTHING)
    assert (found.name, found.stop - found.start) == ("argument1", 48)


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "i1", "u8", "c8", "c16", "b1", ">i4", "S3", "i4,f8", "M8[s]"])
def test_a_buffer_has_the_bytes_of_its_array(kind):
    """Whatever the elements are, the buffer before the launch has the array's bytes."""
    array = np.zeros(6, kind)
    raw = array.view(np.uint8)
    raw[:] = np.arange(raw.size) % 2
    (buffer,) = raw_arguments.buffers(raw_arguments.regions([array], NOTHING))
    assert buffer.nbytes == array.nbytes
    held = buffer.fill(np.arange(buffer.elements)).astype(buffer.dtype)
    assert held.tobytes() == array.tobytes()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("x",), r"names=\('x',\): 1 for 2 arguments; give one for each"),
        (("x", "y", "z"), "3 for 2 arguments; give one for each"),
        (("x", "x"), r"names=\('x', 'x'\): 'x' is the name of several arrays; give distinct ones"),
        (("x", "nv.global"), "'nv.global' is the name of several arrays"),
    ],
)
def test_names_are_distinct(names, message):
    """Names that are no distinct ones of all arguments are refused: no array loses its results to another."""
    arrays = [np.zeros(4), np.zeros(4)]
    assert [one.name for one in raw_arguments.regions(arrays, NOTHING, ("x", "y"))] == ["x", "y"]
    with pytest.raises(UserError, match=message):
        raw_arguments.regions(arrays, NOTHING, names)
