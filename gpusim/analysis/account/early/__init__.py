"""Registers and shared memory that are used too early: one line for each cause, and how to mend it."""
