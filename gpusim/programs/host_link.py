"""What a host's calls and copies cost: the link between host and card."""

from __future__ import annotations

from dataclasses import dataclass

GIGA, MICRO = 1e9, 1e6


@dataclass(frozen=True)
class HostLink:
    """Bytes per nanosecond of copies from pinned and from pageable memory, and microseconds of calls.

    `launch` is the least time from one launch to the next, `latency` what each copy takes besides its bytes.
    """

    pinned: float
    pageable: float
    latency: float
    launch: float


PCIE_5 = HostLink(55.0, 25.0, 8.0, 2.0)  # guess: 16 lanes of PCIe 5.0


def copy_time(link: HostLink, nbytes: int, *, pinned: bool) -> float:
    """Return the microseconds of a copy between host and card."""
    return link.latency + nbytes / (link.pinned if pinned else link.pageable) / GIGA * MICRO
