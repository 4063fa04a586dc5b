"""What the caches of a random machine may be (`strategies.py`)."""

from __future__ import annotations

from collections.abc import Sequence

CACHES: dict[str, Sequence[int | str]] = {
    "memory.efficiency": (645, 997, 1000),
    "memory.ecc": (0, 1),
    "memory.ecc_cost": (200,),
    "cache.hits": ("none", "l1", "l2", "tags", "tags", "tags"),
    **{f"cache.{level}_latency_{width}": (9, 40) for level in ("l1", "l2") for width in (32, 64, 128)},
    **{f"cache.{key}": (0, 3) for key in ("l1_late", "l2_late")},
    "cache.l2_sector_parts": (1, 19, 130),
    "l1.bytes": (1024, 2048, 8192),
    "l1.sector_bytes": (32, 64, 128),
    "l1.ways": (1, 2, 4),
    "l1.misses": (1, 2, 7),
    "l1.global_loads": (0, 1, 1),
    "l1.global_stores": ("evict", "update"),
    "l1.local_stores": ("back", "through"),
    "l2.bytes": (2048, 8192),
    "l2.sector_bytes": (32, 64, 128),
    "l2.ways": (1, 2, 8),
    "l2_partition.bytes": (1024, 2048),
    "l2_partition.sector_bytes": (32, 64, 128),
    "l2_partition.ways": (1, 2, 8),
    "l2_partition.late": (0, 25),
    "texture_cache.bytes": (1024, 4096),
    "texture_cache.sector_bytes": (32, 128),
    "texture_cache.ways": (1, 2, 4),
    "texture_cache.latency": (9, 40),
    "scalar_cache.bytes": (1024, 2048),
    "scalar_cache.sector_bytes": (32, 64, 128),
    "scalar_cache.ways": (1, 2, 4),
    "scalar_cache.latency": (9, 40),
    "constant_cache.bytes": (256, 1024),
    "constant_cache.sector_bytes": (32, 64, 128),
    "constant_cache.ways": (1, 2),
    "constant_cache.latency": (4, 40),
    "constant_cache.request_cycles": (1, 2, 5),
    **{f"shared_atomic.{key}": (1, 2, 5) for key in ("port", "war", "add_turns", "swap_turns")},
    **{f"shared_atomic.{kind}_latency": (9, 40) for kind in ("add", "swap")},
}
