"""Arguments of Python programs: their types, checked in one line each."""

import numpy as np
import pytest

from gpusim.api.python_arguments import called, settings_of, typed
from isa.errors import UserError


def test_numbers_of_numpy_are_numbers():
    """A NumPy number or truth value is taken as Python's, in arguments and in settings; a truth value is no number."""
    assert typed("limit", np.int64(3), int, "a number") == 3
    assert settings_of("settings", {"l2.ways": np.uint8(8), "cache.hits": "l1"}) == {
        "l2.ways": 8,
        "cache.hits": "l1",
    }
    assert typed("estimate", np.float32(0.5), float, "a number") == 0.5
    assert typed("values", np.bool_(False), bool, "True or False") is False
    with pytest.raises(UserError, match=r"^limit=True: give a number$"):
        typed("limit", True, int, "a number")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("l2.ways=8", "settings='l2.ways=8': give a dictionary, such as {'unit.fp32.latency': 9}"),
        ({3: 3}, "a path of settings=3: give a text"),
        ({"l2.ways": 0.5}, "settings['l2.ways']=0.5: give a whole number or a word"),
    ],
)
def test_what_maps_no_numbers_is_refused(value, message):
    """Settings are a dictionary of texts to whole numbers or words."""
    with pytest.raises(UserError) as raised:
        settings_of("settings", value)
    assert str(raised.value) == message


def test_a_function_can_be_called():
    """None stands for no function; what can't be called is refused."""
    called("progress", None)
    called("progress", print)
    with pytest.raises(UserError, match=r"^progress=3: give a function$"):
        called("progress", 3)
