"""The engines of all SMs of a chip."""
