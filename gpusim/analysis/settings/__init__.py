"""Settings that change nothing of a launch, and why."""
