"""Write and read programs."""
