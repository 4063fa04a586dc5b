"""What caches hold when a launch begins, and this SM's share of the L2."""
