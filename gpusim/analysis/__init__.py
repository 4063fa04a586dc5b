"""What a run means: bounds, stalls and reports."""
