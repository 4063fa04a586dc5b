"""What instructions wait for, and what they fail to wait for."""
