import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from interpreter.access import Ranges, buffer_ranges, inside, misaligned, outside

from isa.kernel import Buffer

ADDRESSES = st.lists(st.integers(0, 80) | st.integers(2**32 - 8, 2**32 - 1), min_size=1, max_size=8)
WIDTHS = st.sampled_from([4, 8, 16])


def test_buffers_without_elements_have_no_range():
    """Each buffer starts on its own page and ends at its last byte; an empty one may not be accessed at all."""
    buffers = [Buffer("a", "<f4", 3), Buffer("b", "<f8", 0), Buffer("c", "<f8", 2)]
    assert buffer_ranges(buffers) == Ranges((0x1000, 0x4000), (0x100C, 0x4010))


@given(ADDRESSES, WIDTHS)
def test_inside_means_wholly_within_one_range(addresses, nbytes):
    """An access is inside if some range holds all of its bytes, those beyond 32 bits included."""
    allowed = Ranges((8, 40), (24, 60))
    bytes_held = [set(range(8, 24)), set(range(40, 60))]
    expected = [not any(set(range(a, a + nbytes)) <= held for held in bytes_held) for a in addresses]
    array = np.array(addresses, np.uint32)
    assert outside(allowed, array, nbytes).tolist() == expected
    assert inside(allowed, array, nbytes) == (not any(expected))


@given(ADDRESSES, WIDTHS)
def test_misaligned_means_not_a_multiple(addresses, nbytes):
    """One address that the width does not divide is enough."""
    assert misaligned(np.array(addresses, np.uint32), nbytes) == any(a % nbytes for a in addresses)


def test_without_ranges_every_address_is_outside():
    """A kernel without buffers has no valid global address."""
    assert outside(Ranges((), ()), np.zeros(2, np.uint32), 4).tolist() == [True, True]
