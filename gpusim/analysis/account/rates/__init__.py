"""Rates of a run: bytes, energy, the roofline."""
