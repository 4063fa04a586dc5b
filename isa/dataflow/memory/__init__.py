"""Addresses, pointers, and the order of accesses."""
