"""Fences: a warp waits until its accesses have been performed."""
