"""Values of floating-point numbers, and conversions."""
