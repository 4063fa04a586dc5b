"""Counts of what blocks execute, without time."""
