"""Dispatch ports: what a scheduler issues in one turn."""
