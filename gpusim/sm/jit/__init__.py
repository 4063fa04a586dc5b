"""Numba: how rules are compiled, linked, cached and called."""
