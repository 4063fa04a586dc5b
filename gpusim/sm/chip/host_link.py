"""Link between host and card, and what calls of the host cost: of programs, not of launches alone."""

from __future__ import annotations

import msgspec

from gpusim.sm.unit.declare import Declaration
from gpusim.sm.unit.ranges import Count, Positive


class HostLink(msgspec.Struct, frozen=True):
    """Rates of copies in 10^6 bytes per second, and times in nanoseconds, as a profiler and events tell them."""

    pinned_mbs: Positive  # MB/s between page-locked host memory and the card, either way
    to_device_mbs: Positive  # MB/s from pageable host memory
    to_host_mbs: Positive  # MB/s to pageable host memory
    to_device_ns: Count  # nanoseconds of a copy of no bytes to the card, or on it
    to_host_ns: Count  # nanoseconds of a copy of no bytes to the host
    launch_ns: Count  # nanoseconds of the host for a launch
    kernel_ns: Count  # nanoseconds of a kernel whose blocks do nothing, from its begin to its end
    gap_ns: Count  # nanoseconds from the end of a kernel to the begin of the next one of its stream


UNIT = Declaration(
    "host link",
)
