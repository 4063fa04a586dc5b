"""Instruction fetch."""
