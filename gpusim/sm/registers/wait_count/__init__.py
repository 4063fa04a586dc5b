"""Wait counters: accesses of a warp under way, by kind of memory."""
