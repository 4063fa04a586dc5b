"""The largest launch that a file can ask for; a machine holds less, and says so itself."""

from __future__ import annotations

MOST_BLOCKS = 2**31 - 1  # of a grid
MOST_THREADS = 1 << 16  # of a block
MOST_SHARED_BYTES = 1 << 24  # of a block
MOST_LOCAL_BYTES = 1 << 19  # of a thread: CUDA C Programming Guide 4.2, table F-2
MOST_REGISTERS = 256  # of a thread, in machine code
