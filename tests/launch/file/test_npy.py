"""The arrays of .npy files, right and damaged."""

from io import BytesIO

import numpy as np
import pytest

from gpusim.launch.file.npy import array

KINDS = "f4", "f8", "i4", "b1"


def saved(values, **options):
    """Return the bytes of a .npy file."""
    file = BytesIO()
    np.save(file, values, **options)
    return file.getvalue()


GOOD = saved(np.arange(4.0))


@pytest.mark.parametrize(
    "values",
    [np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3)), np.float32(7)],
)
def test_an_array_is_read_as_numpy_reads_it(values):
    """Arrays by rows and by columns, and a single number, have NumPy's shape and elements."""
    found = array(saved(values), KINDS)
    assert found.shape == np.shape(values)
    assert np.array_equal(found, values)


def headed(shape):
    """Return the bytes of a .npy file whose header has a shape of its own, before four numbers."""
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + np.arange(4.0).tobytes()


def zipped():
    """Return the bytes of a .npz file."""
    file = BytesIO()
    np.savez(file, np.zeros(3))
    return file.getvalue()


DAMAGED = {
    "no .npy file": (b"1 2 3", "does not begin as a .npy file; write it with numpy.save"),
    "nothing": (b"", "does not begin as a .npy file"),
    "a pickle": (b"\x80\x04\x95", "does not begin as a .npy file"),
    "Python objects": (saved(np.array([{}], object), allow_pickle=True), "an array of Python objects; save one of"),
    "several arrays": (zipped(), r"several arrays; save one array with numpy.save"),
    "cut in its numbers": (GOOD[:-3], "cut short: 29 bytes of the 32 of its numbers"),
    "cut in its header": (GOOD[:20], "its header is damaged"),
    "another version": (GOOD.replace(b"Y\x01", b"Y\x09"), "its header is damaged"),
    "no end of the header": (headed("9 ** 9"), "its header is damaged"),
    "open brackets": (headed("(((4"), "its header is damaged"),
    "deep brackets": (headed("(" * 5000), "its header is damaged"),
    "another type": (GOOD.replace(b"'<f8'", b"'<c8'"), "complex64; save one array of integers"),
    "no type": (GOOD.replace(b"'<f8'", b"'<q8'"), "its header is damaged"),
    "elements of any size": (GOOD.replace(b"<f8", b"<V0"), "save one array"),
    "huge": (headed("(4000000000000,)"), "cut short: 32 bytes of the 32000000000000 of its numbers"),
    "less than nothing": (headed("(-4, -1)"), r"its shape is \(-4, -1\)"),
    "no number": (headed("(True,)"), r"its shape is \(True,\)"),
    "huge and empty": (headed(f"(0, {10**30})"), "its shape is "),
    "many bytes of nothing": (headed(f"(0, {1 << 62}, {1 << 62})"), "its shape is "),
    "many dimensions": (headed(f"({'1, ' * 33})"), "its shape is "),
    "a word": (headed("'4'"), "its header is damaged"),
}


@pytest.mark.parametrize(("data", "message"), DAMAGED.values(), ids=DAMAGED)
def test_bytes_that_are_no_such_array(data, message):
    """Damaged and foreign files are refused in our words, which say what is wrong and never to load them unsafely."""
    with pytest.raises(ValueError, match=message) as caught:
        array(data, KINDS)
    assert "pickle" not in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
