"""Barriers in shared memory: when a phase ends, and the bits that programs see."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusim.sm.effects.mbarrier import signal

PHASE = 1 << 31  # in the upper word


def begun(count):
    """Return the words that ptxas stores for a barrier of so many arrivals (sm_90)."""
    left = (1 << 20) - count
    return np.array([left << 1, left << 11], np.uint32)


@pytest.mark.parametrize("count", [1, 2, 128, 1024])
def test_a_phase_ends_with_its_last_arrival(count):
    """The last of `count` arrivals flips the phase, and the counts are as in the beginning; two phases do so twice."""
    memory = begun(count)
    for phase in (1, 0):
        assert [signal(memory, 0, 1, 0) for _ in range(count)] == [False] * (count - 1) + [True]
        assert memory.tolist() == (begun(count) + np.array([0, phase * PHASE], np.uint32)).tolist()


@given(st.lists(st.integers(1, 4096), min_size=1, max_size=8), st.randoms())
def test_a_phase_ends_when_the_announced_bytes_have_come_too(copies, random):
    """Whatever comes first, the phase ends with the last of one arrival, which announces all bytes, and the copies."""
    events = [(1, -sum(copies)), *((0, nbytes) for nbytes in copies)]
    random.shuffle(events)
    memory = begun(1)
    assert [signal(memory, 0, *event) for event in events] == [False] * len(copies) + [True]
    assert memory.tolist() == (begun(1) + np.array([0, PHASE], np.uint32)).tolist()
