"""What is noted of a run: trace records, cycles by stall reason, and what ends it."""
