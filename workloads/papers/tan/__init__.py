"""Tan et al.'s DGEMM."""
