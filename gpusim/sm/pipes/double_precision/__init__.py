"""Double precision: one issue per slot for the whole SM."""
