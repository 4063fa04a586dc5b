"""Ranges of the numbers of machine files."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

MOST = 1_000_000_000  # products of two such numbers stay within 64 bits
Positive = Annotated[int, msgspec.Meta(ge=1, le=MOST)]
Count = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
Flag = Literal[0, 1]
# What each part of an access costs: those of all lanes, and of their turns, stay within the 32 bits that are recorded.
PassCycles = Annotated[int, msgspec.Meta(ge=1, le=1000)]
RequestCycles = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
Late = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
