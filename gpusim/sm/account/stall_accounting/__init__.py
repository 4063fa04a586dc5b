"""Stalls: the cycles of warps and issue slots, by reason."""
