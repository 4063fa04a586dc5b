"""The state of an SM as one plain record, and the codes that stand in it."""
