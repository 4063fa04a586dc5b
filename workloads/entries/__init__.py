"""The entries of the catalog, by kind."""
