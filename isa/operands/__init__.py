"""Operands: registers and their banks, special registers, changes of patterns, windows of addresses."""
