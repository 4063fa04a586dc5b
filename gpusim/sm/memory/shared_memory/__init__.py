"""Shared memory: banks, passes, atomics."""
