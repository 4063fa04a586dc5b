"""Matrices of which each lane of a warp holds parts: products of two, with a third one added."""
