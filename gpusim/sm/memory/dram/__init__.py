"""The DRAM behind the L2: how long its accesses take."""
