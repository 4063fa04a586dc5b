"""Arrays that Numba's kernels are given, without Numba: their memory, and their names."""

import numpy as np
import pytest
from numpy.lib.array_utils import byte_bounds

from gpusim.api.numba.arguments import plain
from gpusim.api.numba.array import device_array
from gpusim.api.numba.kernel import jit
from isa.errors import UserError


class Given:
    """An array of another kind, of which NumPy gets what a function returns."""

    def __init__(self, function):
        """Take the function."""
        self.function = function

    def __array__(self, dtype=None, copy=None):
        """Call it."""
        return self.function()


@pytest.mark.parametrize("shape", [(2, 3), (), (0,)])
def test_arrays_of_other_kinds_share_their_memory(shape):
    """An array of another kind, also in a tuple, is one of NumPy in the same memory."""
    held = np.zeros(shape)
    (found,) = plain((Given(lambda: held),), "x")
    assert type(found) is np.ndarray
    assert byte_bounds(found) == byte_bounds(held)


def test_copies_are_refused():
    """One that gives NumPy a copy is refused by its name: results would be lost."""
    with pytest.raises(UserError, match=r"^x\[1\]: Given gives NumPy a copy, which would keep the results; pass numpy"):
        plain((1, Given(lambda: np.zeros(4))), "x")


@pytest.mark.parametrize("strides", [(40, 8), (8, 8), (160, 16), (0, 8), (8, 32)])
def test_strides_of_the_device(strides):
    """All elements of an array with strides lie in memory that it holds; without elements it needs none."""
    array = device_array((4, 5), strides=strides)
    assert (array.shape, array.strides, array.any()) == ((4, 5), strides, False)
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    assert root.flags.owndata
    assert byte_bounds(root) == byte_bounds(array)
    assert device_array((0, 5), strides=strides).size == 0


@pytest.mark.parametrize(("shape", "strides"), [(4, -8), ((4, 2), (8,)), ((4, 2), (16, -8)), (4, (8, 8))])
def test_strides_that_do_not_fit(shape, strides):
    """Strides below 0, and another number of them than axes, are refused."""
    with pytest.raises(UserError, match=r"^strides=.*: give one for each axis of shape=.*, 0 or more$"):
        device_array(shape, strides=strides)


def of_any_number(first, *rest):
    """A kernel with a star."""


def test_names_of_arguments():
    """Arguments behind a star have names that no element of a tuple among them has."""
    kernel = jit(of_any_number)
    assert kernel.names(1) == ["first"]
    assert kernel.names(3) == ["first", "rest[0]", "rest[1]"]
