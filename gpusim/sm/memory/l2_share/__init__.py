"""One SM that stands for all, in the L2."""
