"""Replay: recorded streams, and periods that are skipped when a state comes back."""
