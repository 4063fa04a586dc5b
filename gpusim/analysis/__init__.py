"""Analysis of runs: bounds, stalls and reports."""
