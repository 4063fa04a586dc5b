"""Control codes where code has none, and the order of code."""
