"""Lanes of a warp: what they compute, exchange, and where they diverge and meet."""
