"""Values of texture fetches."""
