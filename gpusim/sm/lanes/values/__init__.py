"""Values: what instructions compute, 32 lanes at a time."""
