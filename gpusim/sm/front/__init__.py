"""The front: blocks, fetch, and which warp issues what in each slot."""
