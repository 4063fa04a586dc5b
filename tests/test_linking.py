from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

from gpusim.linking import EntryCompiler, RuleLibrary
from gpusim.rule import OPTIONS, entry, rule


@rule
def smaller(a: int, b: int) -> int:
    return min(a, b)


@rule
def through_two(a: int, b: int) -> int:
    return smaller(a, b) + smaller(b, 5)


@entry
def outermost(a: int, b: int) -> int:
    return through_two(a, b) + smaller(a, 3)


@rule
def element(numbers: Any, i: int) -> int:
    return numbers[i]


@entry
def outer_element(numbers: Any, i: int) -> int:
    return element(numbers, i)


def libraries(dispatcher: Any) -> list[Any]:
    return [result.library for result in dispatcher.overloads.values()]


@pytest.mark.parametrize(("a", "b"), [(1, 2), (9, 7), (4, 4)])
def test_an_entry_reaches_the_rules_below_it(a, b):
    """Rules called from rules, at several depths and with Numba's own functions below, compute what Python does."""
    assert outermost(a, b) == min(a, b) + min(b, 5) + min(a, 3)


@pytest.mark.jit
def test_rules_get_no_machine_code_of_their_own():
    """Only the entry is turned into machine code: a rule's library has no address, and is compiled all the same."""
    uncached = numba.njit(lambda a, b: through_two(a, b) + smaller(a, 3), **OPTIONS, pipeline_class=EntryCompiler)
    assert uncached(1, 2) == 4
    rules = libraries(through_two) + libraries(smaller)
    assert rules
    assert all(isinstance(library, RuleLibrary) for library in rules)
    assert all(library.get_pointer_to_function(library.name) == 0 for library in rules)


@pytest.mark.jit
def test_only_our_indices_count_from_the_first_element_alone():
    """At index -1 a rule reads what lies before the array; what others compile afterwards still counts from the end."""
    numbers = np.array([1, 2, 3, 4])
    assert outer_element(numbers[1:3], -1) == 1
    assert numba.njit(lambda array, i: array[i])(numbers[1:3], -1) == 3
