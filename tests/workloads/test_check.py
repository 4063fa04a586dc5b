from __future__ import annotations

import pytest

from isa.errors import UserError
from workloads.check import at_least, one_of


def test_a_value_below_the_minimum_is_refused_by_name():
    """The message has kernel, name, value and minimum; the minimum itself passes."""
    at_least("chain", 1, warps=1)
    with pytest.raises(UserError, match="chain: warps=0 is too small; give 1 or more"):
        at_least("chain", 1, length=5, warps=0)


def test_a_value_that_is_not_a_choice_is_refused_with_the_choices():
    """The message has kernel, name, value and all choices; a choice passes."""
    one_of("mix", "lds", 64, (32, 64))
    with pytest.raises(UserError, match="mix: lds=16 is not known; give one of 32, 64"):
        one_of("mix", "lds", 16, (32, 64))
