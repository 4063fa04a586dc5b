import struct

import pytest

from gpusim.launch.file import arguments
from isa import memory
from isa.errors import UserError
from isa.nvidia.abi.launch import WINDOW, Value
from isa.nvidia.file.signature import parameter_types

BUFFERS = """
[[argument]]
name = "x"
buffer = "float32"
elements = 8
[[buffer]]
name = "z"
buffer = "int32"
elements = 2
"""


def values(launch, text=""):
    """Return the values of all arguments, and the places of the buffers."""
    source = launch(BUFFERS + text)
    found = arguments.buffers(source)
    return arguments.values(source, found), memory.bases(found)


def pointer(address):
    return Value(struct.pack("<Q", WINDOW + address), 8)


def test_buffers_of_arguments_come_first(launch):
    """Each buffer has its name, or one by its place; those of no argument come last."""
    found = arguments.buffers(launch('[[argument]]\nbuffer = "int8"\nelements = 4\n' + BUFFERS))
    assert [(one.name, one.nbytes) for one in found] == [("argument1", 4), ("x", 32), ("z", 8)]


def test_pointers(launch):
    """An argument with a buffer is its address; `same` is that of another, `offset` bytes behind its beginning."""
    found, where = values(launch, '[[argument]]\nsame = "x"\noffset = 12\n[[argument]]\nsame = "z"\n')
    assert found == [pointer(where["x"]), pointer(where["x"] + 12), pointer(where["z"])]


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("-2", "int16", struct.pack("<h", -2)),
        ("2", "float32", struct.pack("<f", 2)),
        ("0.1", "float64", struct.pack("<d", 0.1)),
        ("true", "bool", b"\x01"),
        ("0xFFFF_FFFF", "uint32", b"\xff" * 4),
        ("nan", "float32", struct.pack("<f", float("nan"))),
    ],
)
def test_numbers(launch, value, kind, expected):
    """A number has the bytes of its type, and its alignment."""
    found, _ = values(launch, f'[[argument]]\nvalue = {value}\ntype = "{kind}"\n')
    assert found[1] == Value(expected, len(expected))


def test_structs(launch):
    """Members lie as in C, an array's elements one behind the other; a pointer is a buffer's address, or 0."""
    text = 'struct = [["int8", 1], ["float32", [1.0, 2]], ["pointer", "z"], ["pointer", 0], ["bool", true]]'
    found, where = values(launch, f"[[argument]]\n{text}\n")
    expected = struct.pack("<b3x2f4xQQ?7x", 1, 1.0, 2.0, WINDOW + where["z"], 0, True)
    assert found[1] == Value(expected, 8)


def test_bytes_of_a_struct(launch):
    """Members given by their bytes follow each other as they are, with addresses among them."""
    text = 'struct = [["bytes", "0102030405060708"], ["pointer", "z"], ["bytes", "09 0a"]]'
    found, where = values(launch, f"[[argument]]\n{text}\n")
    expected = struct.pack("<8sQ2s6x", bytes(range(1, 9)), WINDOW + where["z"], b"\x09\x0a")
    assert found[1] == Value(expected, 8)


def test_bytes(launch):
    """Digits are bytes as they lie in memory."""
    assert values(launch, '[[argument]]\nbytes = "01 ff 00"\n')[0][1] == Value(b"\x01\xff\x00", 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[argument]]\n", "10:3: an argument without a value; write buffer, file, same, value, struct or bytes"),
        ('[[argument]]\nsame = "x"\nvalue = 1\n', "12:1: an argument with same and value; give one of these"),
        ('[[argument]]\nsame = "w"\n', "11:1: unknown buffer w; known: x, z"),
        ('[[argument]]\nsame = "x"\noffset = 33\n', "11:1: offset 33: x has 32 bytes; take a smaller one"),
        ("[[argument]]\nvalue = 1\n", '11:1: 1 has no type; add type = "int32", or what it is'),
        ('[[argument]]\nvalue = 1\ntype = "int"\n', "11:1: 'int' is no type; did you mean int8?"),
        ('[[argument]]\nvalue = 300\ntype = "int8"\n', "11:1: 300 does not fit int8; write -128 to 127"),
        ('[[argument]]\nstruct = [["int8", "x"]]\n', '11:1: \'x\' is no number; write ["pointer", "x"] for an address'),
        ('[[argument]]\nstruct = [["bytes", "0"]]\n', "11:1: no hexadecimal digits in pairs; write two for each byte"),
        ('[[argument]]\nstruct = [["pointer", 8]]\n', "11:1: 8 is no address; write the name of a buffer, or 0"),
        ('[[argument]]\nstruct = [["int8", []]]\n', "11:1: a member of type int8 without a number"),
        ('[[argument]]\nstruct = [["int8"]]\n', "11:1: argument.1.struct.0: expected `array` of length 2, got 1; "),
        ('[[argument]]\nbytes = "0"\n', "11:1: no hexadecimal digits in pairs; write two for each byte"),
        ('[[buffer]]\nbuffer = "int8"\nelements = 1\n', '10:3: a [[buffer]] has no name; add name = "..."'),
        ('[[buffer]]\nname = "x"\n', '11:1: x defined twice; rename one, or write same = "x" for the same buffer'),
        ('[[buffer]]\nname = "nv.global"\n', "11:1: 'nv.global' is no name; write letters, digits and _"),
        (
            '[[buffer]]\nname = "w"\nbuffer = "float64"\nelements = 1000000000\n',
            "10:3: buffers need 8000024576 bytes: more than a 32-bit address reaches; take fewer elements",
        ),
    ],
)
def test_what_is_no_argument_is_refused(launch, tmp_path, text, message):
    """An argument that says nothing, or what its type doesn't hold, is refused at its place."""
    with pytest.raises(UserError) as caught:
        values(launch, text)
    assert str(caught.value).startswith(f"{tmp_path}/k.toml:{message}")


def test_buffers_of_another_real_type_are_refused(launch):
    """Singles for a pointer to doubles are refused with the place of the type, where the name says all parameters."""
    source = launch(BUFFERS)
    buffers = arguments.buffers(source)
    with pytest.raises(UserError) as caught:
        arguments.check_types(source, buffers, parameter_types("_Z1kPKd"))
    message = "x has elements of float32, its parameter is of type const double *; give float64"
    assert str(caught.value) == f"{source.path}:4:1: {message}"
    for name in ("_Z1kPf", "_Z1kPv", "_Z1kPdi", "k"):
        arguments.check_types(source, buffers, parameter_types(name))
    same = launch(BUFFERS + '[[argument]]\nsame = "x"\n')
    arguments.check_types(same, buffers, parameter_types("_Z1kPfPd"))


def test_numbers_of_another_kind_are_refused(launch):
    """A real number for a whole parameter is refused at its type, and the reverse; unknown types take any."""
    source = launch('[[argument]]\nvalue = 1\ntype = "int32"\n[[argument]]\nvalue = 1\ntype = "float64"\n')
    with pytest.raises(UserError) as caught:
        arguments.check_types(source, (), parameter_types("_Z1kfd"))
    assert str(caught.value) == f"{source.path}:3:1: int32, where the parameter is of type float; give float32"
    with pytest.raises(UserError, match=r":6:1: float64, where the parameter is of type long; give int64"):
        arguments.check_types(source, (), parameter_types("_Z1kil"))
    for types in (parameter_types("_Z1kjd"), parameter_types("_Z1k3Bigd"), (None, None), None):
        arguments.check_types(source, (), types)
