"""The SM's ways to the L2."""
