"""A pipe: how long an instruction occupies it, and when its result is there."""
