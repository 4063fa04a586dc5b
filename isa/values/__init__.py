"""Value functions of the instructions, per lane, on bit patterns."""
