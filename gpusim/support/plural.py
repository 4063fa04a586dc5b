"""Counts in words."""

from __future__ import annotations


def plural(count: int, noun: str, ending: str = "s") -> str:
    """Return a count with its noun, such as `1 block` and `2,500 blocks`."""
    return f"{count:,} {noun}{ending * (count != 1)}"
