"""Buffers that hold addresses of other buffers."""

import numpy as np
import pytest

from gpusim.launch.file import arguments, source
from isa.errors import UserError
from isa.memory import bases
from isa.nvidia.abi.launch import WINDOW


def read(tmp_path, fill, element="uint64"):
    """Return the buffers of a launch file with rows of numbers behind addresses."""
    path = tmp_path / "k.toml"
    path.write_text(
        f'[[argument]]\nname = "rows"\nbuffer = "{element}"\nelements = 4\nfill = "{fill}"\n'
        '[[buffer]]\nname = "all"\nbuffer = "float32"\nelements = 64\n'
    )
    return arguments.buffers(source.read(path))


@pytest.mark.parametrize(("fill", "step"), [("addresses all", 0), ("addresses all 64", 64), ("addresses rows 8", 8)])
def test_addresses_have_equal_steps(tmp_path, fill, step):
    """The first is the address of the buffer that is named, of whatever order, and each further one a step more."""
    found = read(tmp_path, fill)
    first = WINDOW + bases(found)[fill.split()[1]]
    assert found[0].fill(np.arange(4)).tolist() == [first + step * number for number in range(4)]


@pytest.mark.parametrize(
    ("fill", "element", "cause"),
    [
        ("addresses", "uint64", "addresses: write addresses NAME, or addresses NAME STEP"),
        ("addresses none", "uint64", "unknown buffer none; "),
        ("addresses all x", "uint64", "'x' is not an integer"),
        ("addresses all -8", "uint64", "a step of -8 bytes; write 0 to"),
        ("addresses all", "int32", "rows has no elements for addresses; write buffer = "),
    ],
)
def test_what_can_not_be_is_refused(tmp_path, fill, element, cause):
    """Other buffers, steps and types of elements are refused with the place of the fill."""
    with pytest.raises(UserError) as error:
        read(tmp_path, fill, element)
    assert "k.toml:5:1: " in str(error.value)
    assert cause in str(error.value)
