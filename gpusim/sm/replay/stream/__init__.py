"""Streams: what a block's instructions do, recorded and played."""
