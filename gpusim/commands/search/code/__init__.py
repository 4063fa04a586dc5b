"""What `gpusim tune FILE.toml` is asked for, and how a budget is spent."""
