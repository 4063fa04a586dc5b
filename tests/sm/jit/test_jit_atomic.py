"""Operations on elements of arrays that threads share."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gpusim.sm.jit import atomic
from gpusim.sm.jit.rule import entry

ROUNDS = 100_000


@entry
def _count(array, times):
    """Add one so many times; return whether what was there was ever negative."""
    bad = False
    for _ in range(times):
        bad = bad or atomic.add(array, 0, 1) < 0
    return bad


@entry
def _replace(array, expected, new):
    return atomic.replace(array, 1, np.uint16(expected), np.uint16(new))


@entry
def _load(array):
    return atomic.load(array, 1)


@pytest.mark.jit
def test_no_addition_of_another_thread_is_lost():
    """Four threads that count together come to the sum of what each has added."""
    array = np.zeros(2, np.int64)
    with ThreadPoolExecutor(4) as pool:
        assert not any(pool.map(lambda _: _count(array, ROUNDS), range(4)))
    assert array.tolist() == [4 * ROUNDS, 0]


def test_replace_needs_what_is_expected():
    """An element is replaced if it holds the expected number, and stays as it is otherwise."""
    array = np.array([1, 2, 3], np.uint16)
    assert not _replace(array, 3, 4)
    assert array.tolist() == [1, 2, 3]
    assert _replace(array, 2, 4)
    assert array.tolist() == [1, 4, 3]
    assert _load(array) == 4


def test_add_returns_what_was_there():
    """The element before the addition is returned."""
    array = np.array([5], np.int64)
    assert atomic.add(array, 0, 2) == 5
    assert array.tolist() == [7]


@entry
def _wait(array):
    """Look at an element until it is 1, with pauses and naps; return whether it ever was."""
    for look in range(20_000):
        if atomic.load(array, 0) == 1:
            return True
        if look < 1000:
            atomic.pause()
        else:
            atomic.nap(100)
    return False


@pytest.mark.jit
def test_a_thread_that_naps_sees_what_another_does():
    """A compiled thread waits without Python's lock: the thread that ends its wait runs meanwhile."""
    array = np.zeros(1, np.int64)
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(_wait, array)
        time.sleep(0.05)
        array[0] = 1
        assert waits.result()
