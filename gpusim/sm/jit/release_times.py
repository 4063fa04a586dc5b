"""A warp's release times compared all at once: compiled code would compare one after the other.

A vector that is read soon after one of its words was written waits for that write. So this is for times that a warp had
before; those just worked out are read one by one (`latest` of stall_accounting.py).
"""

from __future__ import annotations

from gpusim.sm.records import Numbers
from gpusim.sm.unit.stall import OWN


def later(times: Numbers, when: int) -> int:
    """Return the mask of the own reasons that are over later than that cycle."""
    return sum(int(times[reason] > when) << reason for reason in range(OWN))
