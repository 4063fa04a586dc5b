"""Timelines: what each warp instruction did and what it waited for, as one document."""
