"""A simulated card: what programs launch on it takes simulated time."""
