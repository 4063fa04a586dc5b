"""The interpreter: programs in program order, in NumPy and apart from the rules, which the engines must agree with."""
