"""The block scheduler: placement, launch skew, refill, exit."""
