"""Convergence: lanes that are independent, their groups and barriers."""
