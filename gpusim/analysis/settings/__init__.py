"""Settings that a launch does not feel, and why."""
