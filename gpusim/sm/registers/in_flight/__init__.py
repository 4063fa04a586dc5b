"""Results in flight: what is written late, and what is read or overwritten too early."""
