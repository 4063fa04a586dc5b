import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusim.launch.file import elements
from gpusim.launch.file.document import TYPES
from isa.errors import UserError
from isa.generators import hash_fill
from isa.text.buffer_text import contents

HEAD = '[[buffer]]\nname = "x"\n'


def buffer(launch, text):
    """Return the buffer of a table."""
    source = launch(HEAD + text)
    return elements.buffer(source, "buffer.0", source.file.buffer[0], "x")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('buffer = "int32"\nelements = 3\nfill = "iota"', [0, 1, 2]),
        ('buffer = "uint8"\nelements = 2\nfill = "constant 255"', [255, 255]),
        ('buffer = "int64"\nfill = "values 1 -2 3"', [1, -2, 3]),
        ('buffer = "float16"\nfill = "values 0.5 0.1"', [0.5, float(np.float16(0.1))]),
        ('buffer = "float64"\nelements = 2', [0, 0]),
        ('buffer = "bool"\nelements = 2\nfill = "constant 1"', [1, 1]),
        ('buffer = "float32"\nelements = 2\nfill = "hash 3 0 2"', hash_fill(3, 0, 2)(np.arange(2)).tolist()),
    ],
)
def test_elements_come_from_a_generator(launch, text, expected):
    """Elements are those of the listing's generators, for each type; a bool is a byte."""
    assert contents(buffer(launch, text)).tolist() == expected


@pytest.mark.parametrize("kind", TYPES)
def test_elements_come_from_a_file(launch, tmp_path, kind):
    """An array of each type gives its own elements, flat in the order of C."""
    array = np.arange(6).reshape(2, 3).astype(kind)
    np.save(tmp_path / "x.npy", np.asfortranarray(array))
    found = buffer(launch, 'file = "x.npy"')
    assert (found.elements, found.nbytes) == (6, array.nbytes)
    assert contents(found).tolist() == array.reshape(-1).astype(float).tolist()


def test_other_orders_and_complex_numbers(launch, tmp_path):
    """Big-endian numbers become little-endian, complex ones pairs."""
    np.save(tmp_path / "x.npy", np.array([1, 2], ">i4"))
    assert contents(buffer(launch, 'file = "x.npy"')).tolist() == [1, 2]
    np.save(tmp_path / "x.npy", np.array([1 + 2j], np.complex64))
    found = buffer(launch, 'file = "x.npy"')
    assert (found.dtype, contents(found).tolist()) == ("f4", [1, 2])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('buffer = "float"\nelements = 1', "3:1: 'float' is no type; did you mean float16?"),
        ('buffer = "int32"', "1:3: buffer x has no elements; write elements = 1024"),
        ('buffer = "int32"\nelements = 2\nfill = "hash"', "5:9: hash can't take 0 numbers here; write zero, iota"),
        ('buffer = "int32"\nelements = 2\nfill = "rand 1"', "5:9: unknown generator rand; "),
        ('buffer = "uint8"\nelements = 2\nfill = "constant 256"', "5:18: 256 does not fit; write 0 to 255"),
        ('file = "x.npy"\nfill = "iota"', "4:1: buffer x has a file and a fill; leave out one"),
        ('file = "x.npy"\nbuffer = "int32"', "4:1: x.npy has float64, not int32; leave buffer out"),
        ('file = "x.npy"\nelements = 4', "4:1: x.npy has 3 elements, not 4; leave elements out"),
        ('file = "text.npy"', "3:1: {folder}/text.npy: no array of numbers: it does not begin"),
        ('file = "struct.npy"', "3:1: {folder}/struct.npy: [('a', '<i4')]; save one array of integers"),
        ('file = "zip.npz"', "3:1: {folder}/zip.npz: several arrays; save one array"),
        ('file = "no.npy"', "3:1: {folder}/no.npy: No such file or directory; write it with numpy.save"),
        ('file = "empty.npy"', "3:1: empty.npy has no elements; save one at least"),
    ],
)
def test_what_is_no_buffer_is_refused(launch, tmp_path, text, message):
    """A wrong type, generator, number or file is refused at its place."""
    np.save(tmp_path / "x.npy", np.zeros(3))
    np.save(tmp_path / "struct.npy", np.zeros(2, [("a", "i4")]))
    np.save(tmp_path / "empty.npy", np.zeros(0))
    np.savez(tmp_path / "zip.npz", a=np.zeros(1), b=np.zeros(1))
    (tmp_path / "text.npy").write_text("1 2 3")
    with pytest.raises(UserError) as caught:
        buffer(launch, text)
    assert str(caught.value).startswith(f"{tmp_path}/k.toml:{message.format(folder=tmp_path)}")


@given(st.sampled_from([one for one in TYPES if "int" in one]), st.integers(-(2**70), 2**70))
def test_whole_numbers_keep_their_value_or_are_refused(kind, number):
    """A number in the range of a type becomes itself, any other is refused."""
    limits = np.iinfo(kind)
    if limits.min <= number <= limits.max:
        assert int(elements.converted(number, kind)) == number
    else:
        with pytest.raises(ValueError, match="does not fit"):
            elements.converted(number, kind)


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (2.5, "int32", "2.5 is no whole number; int32 takes one"),
        (float("nan"), "int32", "nan is no whole number"),
        (float("inf"), "uint8", "inf is no whole number"),
        (2, "bool", "2 is no bool; write true or false"),
        (10**400, "int64", "does not fit int64"),
        (10**400, "float32", "is beyond float32; write inf if that is meant"),
    ],
)
def test_numbers_that_a_type_does_not_hold(value, kind, message):
    """A fraction is no integer, and 2 is no truth."""
    with pytest.raises(ValueError, match=message):
        elements.converted(value, kind)


def test_reals_are_rounded():
    """A number becomes the nearest of its type; beyond the greatest it is infinite; 2.0 is a whole number."""
    assert elements.converted(0.1, "float32") == np.float32(0.1)
    assert elements.converted(1e300, "float32") == np.inf
    assert elements.converted(3, "float16") == 3
    assert elements.converted(2.0, "int8") == 2
    assert elements.converted(True, "bool") == np.True_
