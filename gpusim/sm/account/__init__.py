"""What is noted of a run: trace records, and cycles by stall reason."""
