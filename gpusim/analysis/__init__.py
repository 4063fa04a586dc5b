"""What a run means: bounds, occupancy, stalls and reports."""
