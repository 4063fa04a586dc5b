"""Search for a faster kernel, or another machine."""
