"""Slices of the L2 that do atomics."""
