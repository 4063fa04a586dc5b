"""Places of generic addresses."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isa.executing.places import BASES, lanes_in, places, unit_at
from isa.operands.windows import LOCAL_WINDOW, SHARED_PLACE, SHARED_WINDOW
from isa.row import GENERIC, Unit

WINDOW = 0x7F00_0000_0000
STARTS = {Unit.SHARED: SHARED_WINDOW, Unit.LOCAL: LOCAL_WINDOW, Unit.GLOBAL: WINDOW}


@given(st.lists(st.tuples(st.sampled_from(GENERIC), st.integers(0, (1 << 24) - 1)), min_size=1))
def test_each_address_has_its_memory_and_its_byte_there(given_):
    """Addresses in the three windows get a place in their memory, as far from its first as from the window's."""
    found, beyond = places(np.array([STARTS[unit] + byte for unit, byte in given_], np.uint64), WINDOW)
    assert not beyond.any()
    assert [(unit_at(int(at)), int(at) - BASES[unit_at(int(at))]) for at in found] == given_
    for unit in GENERIC:
        assert lanes_in(unit, found).tolist() == [one is unit for one, _ in given_]


@given(st.integers(0, (1 << 64) - 1).filter(lambda a: a >> 24 not in (SHARED_WINDOW >> 24, LOCAL_WINDOW >> 24)))
def test_addresses_between_the_windows_are_beyond(address):
    """An address is beyond unless it lies in a window; those of global memory end where other places begin."""
    (beyond,) = places(np.array([address], np.uint64), WINDOW)[1]
    assert beyond == (not WINDOW <= address < WINDOW + SHARED_PLACE)
