"""A card that is not there: what programs launch on it takes simulated time."""
