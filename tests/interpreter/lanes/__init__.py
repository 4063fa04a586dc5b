"""Lanes that part in the interpreter: paths of a SIMT stack, and groups of independent lanes."""
