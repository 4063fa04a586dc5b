"""Find what limits a kernel."""
