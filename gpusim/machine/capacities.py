"""How much of what a machine may have fits into the records of the state: schema and records take it from here."""

from __future__ import annotations

SCHEDULERS = 8
PORTS = 6  # instructions that one scheduler issues in one turn
WARPS = 64
BLOCKS = 40
QUEUE = 64  # memory instructions
CACHED = 2048  # lines of one instruction cache
BANKS = 128  # of shared memory
