"""Simulated cycles beside measured ones."""
