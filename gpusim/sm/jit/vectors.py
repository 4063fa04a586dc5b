"""Numbers of a record compared all at once: compiled code would compare one after the other.

A vector that is read soon after one of its words was written waits for that write. So this is for what a record had
before: release times that were just worked out are read one by one (`latest` of stall_accounting.py).
"""

from __future__ import annotations

from gpusim.sm.records import Numbers, Table
from gpusim.sm.unit.stall import OWN


def later(times: Numbers, when: int) -> int:
    """Return the mask of a warp's own reasons that are over later than that cycle."""
    return sum(int(times[reason] > when) << reason for reason in range(OWN))


def held(cache: Table, sought: Numbers, base: int) -> int:
    """Return the mask of the places of a reuse cache, row by row, that hold the number sought there plus a base."""
    width = cache.shape[1]
    return sum(int(cache[at // width, at % width] == base + int(sought[at])) << at for at in range(sought.size))
