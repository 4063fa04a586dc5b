"""Rows of machine code for tensor cores: matrix instructions of a warp, and of a warpgroup."""
