"""Functions of the system that kernels call: their code, what they leave in memory, and what a host prints of it."""
