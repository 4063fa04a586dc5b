"""Matrices in shared memory, whose rows lanes name for each other."""
