"""Matrix products as published, one file per kernel."""
