"""Blocks of a walk that wait for others: how each is run, noticed, told of, and how they take turns."""
