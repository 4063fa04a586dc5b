"""Addresses of the lanes of a warp, by the name of a pattern, in units of the access size."""

from __future__ import annotations

import re
from collections.abc import Callable

LANES = range(32)
SCATTERED = (
    47, 5, 113, 88, 20, 99, 31, 64, 2, 120, 75, 18, 90, 53, 7, 101,
    36, 12, 83, 44, 126, 61, 29, 70, 110, 15, 96, 3, 58, 118, 40, 77,
)  # fmt: skip
FORMS: tuple[tuple[str, Callable[..., int]], ...] = (
    (r"stride(\d{1,5})", lambda lane, stride: lane * stride),
    (r"bcast", lambda _: 0),
    (r"div(\d{1,5})", lambda lane, divisor: lane // max(divisor, 1)),
    (r"div(\d{1,5})x(\d{1,5})", lambda lane, divisor, factor: lane // max(divisor, 1) * factor),
    (r"mod(\d{1,5})", lambda lane, modulus: lane % max(modulus, 1)),
    (r"xor(\d{1,5})", lambda lane, mask: lane ^ mask),
    (r"shift(\d{1,5})", lambda lane, distance: lane + distance),
    (r"reverse", lambda lane: 31 - lane),
    (r"evenodd", lambda lane: (lane & 1) * 16 + (lane >> 1)),
    (r"rand", lambda lane: SCATTERED[lane]),
)


def offsets(pattern: str, unit: int) -> tuple[int, ...] | None:
    """Return each lane's byte offset for accesses of `unit` bytes; None for an unknown pattern."""
    for form, place in FORMS:
        match = re.fullmatch(form, pattern)
        if match:
            return tuple(unit * place(lane, *map(int, match.groups())) for lane in LANES)
    return None
