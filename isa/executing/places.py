"""Places of generic addresses: where each lane's access is, as a number of 32 bits (isa.operands.windows)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isa.operands.windows import LOCAL_PLACE, LOCAL_TOP, SHARED_PLACE, SHARED_TOP, WINDOW_BITS, WINDOW_BYTES
from isa.row import Unit

BASES = {Unit.SHARED: SHARED_PLACE, Unit.LOCAL: LOCAL_PLACE, Unit.GLOBAL: 0}  # places of their first bytes


def places(whole: NDArray[np.uint64], window: int) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
    """Return the places of generic addresses, and which of them lie in no window."""
    place = whole - np.uint64(window)
    beyond = place >= np.uint64(SHARED_PLACE)
    top, inside = whole >> np.uint64(WINDOW_BITS), whole & np.uint64(WINDOW_BYTES - 1)
    for of_window, base in ((SHARED_TOP, SHARED_PLACE), (LOCAL_TOP, LOCAL_PLACE)):
        here = top == np.uint64(of_window)
        place, beyond = np.where(here, inside + np.uint64(base), place), beyond & ~here
    return place.astype(np.uint32), beyond


def unit_at(place: int) -> Unit:
    """Return the memory of a place."""
    return Unit.GLOBAL if place < SHARED_PLACE else Unit.SHARED if place < LOCAL_PLACE else Unit.LOCAL


def lanes_in(unit: Unit, places: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Tell for each place whether it lies in that memory: shared, local or global."""
    base = np.uint32(BASES[unit])
    if unit is Unit.SHARED:
        return (places >= base) & (places < np.uint32(LOCAL_PLACE))
    return places < np.uint32(SHARED_PLACE) if unit is Unit.GLOBAL else places >= base
