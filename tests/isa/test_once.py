import pickle
from dataclasses import dataclass, replace

import pytest

from isa.dataflow.memory.address_slice import address_slice
from isa.support import frozen
from isa.support.once import once
from isa.text.assembler import assemble

CALLS = []


@dataclass(frozen=True)
class Pair:
    """A frozen record with the pickling of programs and kernels."""

    a: int
    b: int

    __getstate__ = frozen.state
    __setstate__ = frozen.restore


@once
def weighted(pair, factor=1):
    """Return a sum, and note the call."""
    CALLS.append((pair.a, factor))
    return pair.a + factor * pair.b


@pytest.fixture(autouse=True)
def none_yet():
    """Forget the calls of the test before."""
    CALLS.clear()


def test_a_result_is_worked_out_once_for_each_object_and_arguments():
    """The same object and arguments give the first result again; others are worked out."""
    pair = Pair(1, 2)
    assert [weighted(pair), weighted(pair), weighted(pair, 5), weighted(pair, factor=5)] == [3, 3, 11, 11]
    assert weighted(Pair(1, 2)) == 3
    assert CALLS == [(1, 1), (1, 5), (1, 5), (1, 1)]


def test_changed_copies_and_pickled_ones_have_no_results():
    """A replaced record has none of its original's results, nor has a pickled one; equality is that of fields."""
    pair = Pair(1, 2)
    weighted(pair)
    assert weighted(replace(pair, b=10)) == 11
    copy = pickle.loads(pickle.dumps(pair))
    assert copy == pair == Pair(1, 2)
    assert weighted(copy) == 3
    assert len(CALLS) == 3


def test_a_shared_array_is_read_only():
    """Who asks for a program's address slice gets the one array that all get, and can't change it."""
    program = assemble("MOV R0, 4\nLDS R1, [R0]\nEXIT\n")
    found = address_slice(program)
    assert found is address_slice(program)
    with pytest.raises(ValueError, match="read-only"):
        found[0] = False
