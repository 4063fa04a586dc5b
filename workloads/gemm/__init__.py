"""Published matrix products, one file per kernel."""
