"""Branches that are taken."""
