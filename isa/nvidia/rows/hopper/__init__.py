"""Rows of machine code that began with sm_90: products of matrices by a warpgroup."""
