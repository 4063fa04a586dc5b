"""The instruction streams of measured chip figures: one kernel per row of a measured file."""
