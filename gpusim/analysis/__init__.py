"""Analysis of runs: stalls, searches, settings, validation."""
