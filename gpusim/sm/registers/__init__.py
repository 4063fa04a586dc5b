"""Registers of an SM's warps: reads, writes, results under way, and who waits for them."""
