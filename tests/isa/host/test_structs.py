"""Members of structs, as CUDA C declares them."""

import pytest

from isa.nvidia.host.structs import members, size

SOURCE = """
#define SIDE 4
struct Image { float *pixels; int width, height; };
typedef struct { const double *__restrict__ a, *b; char tag; } Pair;
struct __align__(8) Filter { float weights[SIDE * SIDE]; unsigned char used[3]; float3 origin; };
struct Other { float x; int size() { return 3; } };
struct Wide { float4 v; };
struct Bits { int a : 3; };
struct Held { Image inner; };
"""


def shown(name):
    """Return names, elements and numbers of a struct's members; None where it isn't read."""
    found = members(SOURCE, name)
    return found and [(one.name, one.element or one.type.text, one.count) for one in found]


def test_plain_members():
    """Pointers, numbers, several in one declaration, arrays with sizes of constants, and vectors of three."""
    assert shown("Image") == [("pixels", "float *", 1), ("width", "int32", 1), ("height", "int32", 1)]
    assert shown("Pair") == [("a", "const double *", 1), ("b", "const double *", 1), ("tag", "int8", 1)]
    assert shown("Filter") == [("weights", "float32", 16), ("used", "uint8", 3), ("origin", "float32", 3)]


@pytest.mark.parametrize("name", ["Other", "Wide", "Bits", "Held", "None", "SIDE"])
def test_others_are_not_read(name):
    """A struct with functions, with aligned vectors, with parts of words or other structs, is none that is read."""
    assert shown(name) is None


@pytest.mark.parametrize(("name", "expected"), [("Image", 16), ("Pair", 24), ("Filter", 80)])
def test_sizes_are_those_of_c(name, expected):
    """Members begin at multiples of their size, and the whole ends at one of the largest."""
    assert size(members(SOURCE, name)) == expected


@pytest.mark.parametrize(
    "inside",
    [
        "float a[1" + "][1" * 7000 + "];",
        "float a[(int)1e999];",
        "float a[1 << 40];",
        "float a[0b'];",
        "float a;" * 1025,
        "float " + ", ".join(f"a{number}" for number in range(3000)) + ";",
        "float a[" * 5000,
    ],
)
def test_more_than_can_be_read_is_not(inside):
    """Too many members or elements, bounds that have no value, and a struct without an end, are not read."""
    assert members(f"struct A {{ {inside} }};", "A") is None


def test_as_many_members_as_can_be_are_read():
    """A struct of 1,024 members is read."""
    assert len(members("struct A { " + "".join(f"char a{number};" for number in range(1024)) + " };", "A")) == 1024


@pytest.mark.parametrize("text", ["typedef struct { ", "typedef struct ", "struct alignas(", "struct __a__("])
def test_a_text_that_repeats_is_read_in_time_in_proportion(text):
    """The last of many structs is found, or none is, without a look at the rest of the text from each."""
    assert members(text * 30_000, "A") is None
