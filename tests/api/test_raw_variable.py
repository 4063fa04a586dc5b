"""Variables of a module as bytes without a type: arrays of any type are copied into them, and fit."""

from pathlib import Path

import numpy as np
import pytest

import gpusim
from isa.errors import UserError

DATA = Path(__file__).parent.with_name("isa") / "sass" / "data"
VALUES = np.array([5, 6, 7, 8], np.float32)


@pytest.fixture
def module():
    """A module with the __constant__ variable `table` of four floats, and `start` of three."""
    return gpusim.RawModule(path=DATA / "sm_90.cubin")


@pytest.mark.parametrize("given", [VALUES, VALUES.reshape(2, 2), np.repeat(VALUES, 2)[::2], VALUES.tobytes()])
def test_an_array_of_the_variables_size_is_copied_byte_by_byte(module, given):
    """Without a type, an array of any shape and stride is what the variable holds next, and so are `bytes`."""
    module.get_global("table")[:] = given
    assert module.get_global("table", "float32").tolist() == VALUES.tolist()


def test_a_slice_takes_what_fits_it(module):
    """A slice of the bytes takes an array of its size, one element a NumPy scalar; the rest stays."""
    table = module.get_global("table")
    table[:8] = VALUES[:2]
    table[8:][:4] = np.float32(9)
    assert module.get_global("table", "float32").tolist() == [5, 6, 9, 4]
    assert table.view("float32").tolist() == [5, 6, 9, 4]
    table.view("float32")[:] = 3
    assert table.tolist() == np.full(4, 3, np.float32).view(np.uint8).tolist()


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        (3.0, "3.0 has no type, and"),
        (0, "0 has no type, and"),
        ([1, 2, 3, 4], "a list has no type, and"),
        (np.arange(4.0), "an array of 4 float64 has 32 bytes, and"),
        (np.float32(1), "a numpy.float32 has 4 bytes, and"),
        (b"x", "a bytes has 1 byte, and"),
        (np.array([None, None]), "an array of 2 object has no type, and"),
    ],
)
def test_what_has_no_type_or_another_size_is_refused(module, given, cause):
    """A number without a type, and another size, name the variable, its bytes and the way to give a type."""
    before = module.get_global("table").tolist()
    fix = 'the variable has 16 bytes; give an array of 16 bytes, or a type, as in get_global("table", "float32")'
    for store in (lambda view: view.__setitem__(slice(None), given), lambda view: view.fill(given)):
        with pytest.raises(UserError) as caught:
            store(module.get_global("table"))
        assert str(caught.value) == f"table: {cause} {fix}"
    assert module.get_global("table").tolist() == before


def test_a_part_of_another_size_is_refused(module):
    """A number for a single byte, and an array beside its slice, name the bytes of both."""
    with pytest.raises(UserError, match=r"table: 5 has no type, and the slice has 1 of the variable's 16 bytes; give"):
        module.get_global("table")[0] = 5
    with pytest.raises(UserError, match=r"float32 has 16 bytes, and the slice has 8 of the variable's 16 bytes; give"):
        module.get_global("table")[8:] = VALUES


def test_bytes_by_name_take_numbers(module):
    """With the type uint8 the view is NumPy's own, which converts and repeats."""
    module.get_global("table", np.uint8)[:] = 0
    assert module.get_global("table", "float32").tolist() == [0] * 4


def test_what_is_computed_from_the_bytes_is_an_array_of_numpy(module):
    """Sums and comparisons of the bytes are no variables: they take numbers."""
    table = module.get_global("table")
    summed = table + 1
    summed[:] = 3
    assert summed.tolist() == [3] * 16
    assert (table == table.copy()).all()
    assert table.sum() == table.view(np.uint8).sum()
