"""The instruction streams behind figures measured on a chip: one kernel per row of a measured file."""
