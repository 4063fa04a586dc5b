import ctypes
import struct as binary

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.generators import iota_fill
from isa.kernel import Buffer
from isa.nvidia.abi.launch import WINDOW, LaunchError, Value, extent, natural, packed, pointer, struct
from isa.nvidia.file.cubin import Launch, Parameter

TYPES = {"b": ctypes.c_int8, "h": ctypes.c_int16, "i": ctypes.c_int32, "q": ctypes.c_int64, "d": ctypes.c_double}
BUFFERS = (Buffer("x", "f4", 5, iota_fill()), Buffer("y", "f4", 5))


def value(kind: str, number: int = 0) -> Value:
    """Return a C value, aligned to its size."""
    return Value(binary.pack(f"<{kind}", number), binary.calcsize(kind))


@given(st.lists(st.tuples(st.sampled_from(sorted(TYPES)), st.integers(-100, 100)), min_size=1, max_size=8))
def test_a_struct_lies_as_a_compiler_lays_it_out(members):
    """Bytes and size of a struct are those of ctypes, which has the host compiler's rules."""
    fields = [(f"m{n}", TYPES[kind]) for n, (kind, _) in enumerate(members)]
    layout = type("S", (ctypes.Structure,), {"_fields_": fields})
    theirs = layout(*(number for _, number in members))
    found = struct(value(kind, number) for kind, number in members)
    assert found == Value(bytes(theirs), ctypes.alignment(layout))


@given(st.lists(st.sampled_from(sorted(TYPES)), max_size=8))
def test_parameters_lie_as_members_do(kinds):
    """Without a table, parameters have the offsets of a struct's members; only the padding at the end is missing."""
    values = [value(kind, 3) for kind in kinds]
    launch = natural(values)
    assert struct(values).data.startswith(packed("k", values, launch))
    assert all(one.offset % v.alignment == 0 for one, v in zip(launch.parameters, values, strict=True))


def test_arguments_lie_where_the_table_says():
    """Each argument is at its parameter's offset, zeros between them."""
    launch = Launch(0x210, 24, (Parameter(0, 8), Parameter(8, 4), Parameter(12, 1), Parameter(16, 8)))
    values = [pointer(BUFFERS, "y", 4), value("i", -1), value("b", 2), value("d", 1)]
    expected = binary.pack("<Qibxxxd", WINDOW + 3 * 4096 + 4, -1, 2, 1.0)
    assert packed("flip", values, launch) == expected


@pytest.mark.parametrize(
    ("kinds", "part", "message"),
    [
        ("q", "arguments", "k has 2 parameters, of 8, 4 bytes; 1 arguments are given"),
        ("qq", 1, "parameter 2 of k has 4 bytes; 8 are given"),
        ("ii", 0, "parameter 1 of k has 8 bytes; 4 are given"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(kinds, part, message):
    """Another number of arguments, or another size, is refused in one line; the error says which argument."""
    launch = Launch(0, 12, (Parameter(0, 8), Parameter(8, 4)))
    with pytest.raises(LaunchError) as caught:
        packed("k", [value(kind) for kind in kinds], launch)
    assert (caught.value.part, str(caught.value)) == (part, message)


def test_a_struct_at_another_alignment_is_refused():
    """A struct with a double can't lie at byte 4; a kernel without parameters takes no argument."""
    with pytest.raises(LaunchError, match="begins at byte 4, which is no multiple of the 8 that a member needs"):
        packed("k", [value("i"), struct([value("d")])], Launch(0, 12, (Parameter(0, 4), Parameter(4, 8))))
    with pytest.raises(LaunchError, match="k has no parameters; 1 arguments are given"):
        packed("k", [value("i")], Launch(0, 0, ()))


@pytest.mark.parametrize(("sizes", "expected"), [((4,), (4, 1, 1)), ((4, 2), (4, 2, 1)), ((4, 2, 3), (4, 2, 3))])
def test_sizes_that_are_not_given_are_1(sizes, expected):
    """A grid or block has three sizes."""
    assert extent(sizes) == expected


@pytest.mark.parametrize("sizes", [(), (1, 1, 1, 1)])
def test_other_numbers_of_sizes_are_refused(sizes):
    """None and four sizes are refused."""
    with pytest.raises(ValueError, match=f"{len(sizes)} sizes; give x"):
        extent(sizes)
