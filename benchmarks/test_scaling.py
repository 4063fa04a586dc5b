"""Rates by warps, inner size and grid: warps share the same work, a larger k or grid adds work."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.conftest import Measure
from benchmarks.speed import FEEDS, Case, barrier, chain, mix, sg4

WARPS = (1, 2, 4, 8, 16, 32, 64)
WORK = {mix: 1 << 18, chain: 1 << 18, barrier: 1 << 16}  # in all warps together


@pytest.mark.parametrize("warps", WARPS)
@pytest.mark.parametrize("make_case", WORK, ids=lambda f: f.__name__)
@pytest.mark.parametrize("feed", FEEDS)
def test_warps(measure: Measure, make_case: Callable[[int, int], Case], warps: int, feed: str) -> None:
    """Time the same number of instructions in 1 to 64 warps of one block."""
    measure(make_case(warps, WORK[make_case]), feed)


@pytest.mark.parametrize("k", [64, 256, 1024])
@pytest.mark.parametrize("feed", FEEDS)
def test_inner_size(measure: Measure, k: int, feed: str) -> None:
    """Time loops of k = 64, 256 and 1024 at the same grid."""
    measure(sg4(k), feed)


@pytest.mark.parametrize("m", [128, 512, 2048])
@pytest.mark.parametrize("feed", FEEDS)
def test_grid(measure: Measure, m: int, feed: str) -> None:
    """Time 2, 8 and 32 blocks of the same length, two at a time."""
    measure(sg4(k=128, m=m), feed)
