"""The names of the buffers that are the memory of the system, which any launch is asked for."""

from __future__ import annotations

PRINTED, HEAP = "nv.printf", "nv.heap"
HEADER_BYTES = 16  # of both: bytes, then those used
