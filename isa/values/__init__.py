"""What each instruction computes, per lane, on bit patterns."""
