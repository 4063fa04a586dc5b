"""Findings of the diagnosis that look at what is executed: divergence, local memory, atomics of the L2."""
