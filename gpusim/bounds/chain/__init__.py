"""The bound of dependence chains."""
