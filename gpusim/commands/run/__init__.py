"""Run a kernel, and look at it cycle by cycle."""
