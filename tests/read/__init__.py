"""Readers of gpusim's output for tests: strict, and independent of the code that writes it."""
