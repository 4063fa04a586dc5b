"""Local memory."""

from __future__ import annotations

import msgspec

from gpusim.sm.unit.asks import accesses
from gpusim.sm.unit.declare import Condition, Declaration, field, packed_key
from gpusim.sm.unit.ranges import Positive, RequestCycles
from isa.row import Unit as UnitClass

LOCAL_BASE = 1 << 32  # addresses at which caches see local memory: after all global memory


class LocalMemory(msgspec.Struct, frozen=True):
    """Local memory that hits the L1 cache."""

    latency: Positive  # cycles of an access
    request_cycles: RequestCycles  # cycles of the load/store units per transaction


UNIT = Declaration(
    "local_memory",
    fields={
        "machine": (packed_key("local_memory.request_cycles", "local_request"),),
        "launch": (
            field("local_word", "where local memory begins in the memory array"),
            field("local_words", "words of it per thread"),
            field("local_base", "byte address by which caches know it"),
        ),
    },
    conditions=(
        Condition(
            "local_memory.*", "local_request", accesses(UnitClass.LOCAL), "{kernel} does not access local memory"
        ),
    ),
    limits={"load/store unit": {"local_memory.request_cycles": 1}, "latency": {"local_memory.latency": 1}},
)
