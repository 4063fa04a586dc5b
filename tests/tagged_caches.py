"""A machine with two small caches that keep tags, and what loads from them take."""

from timing import cycles_of, run_text

# A hit in the L1 takes 20 cycles. A hit in the L2 takes 100 cycles after a port that moves 32 bytes per cycle. A miss
# takes 300 cycles after this port and the DRAM's channel, which moves as much. The L1 has one set of two lines, the L2
# one set of four.
TAGS = {
    "cache.hits": "tags",
    **{f"cache.l1_latency_{width}": 20 for width in (32, 64, 128)},
    **{f"cache.l2_latency_{width}": 100 for width in (32, 64, 128)},
    "cache.l1_late": 0,
    "cache.l2_late": 0,
    "cache.l2_sector_parts": 64,
    "l1.bytes": 256,
    "l1.sector_bytes": 32,
    "l1.ways": 2,
    "l1.misses": 8,
    "l1.global_loads": 1,
    "l1.global_stores": "evict",
    "l1.local_stores": "back",
    "l2.bytes": 512,
    "l2.sector_bytes": 32,
    "l2.ways": 4,
    "local_memory.latency": 20,
    "local_memory.request_cycles": 1,
    "global_memory.latency": 300,
    "global_memory.request_cycles": 1,
    "chip.shader_mhz": 1000,
    "chip.dram_mbs": 32000,
}
SCALAR_FILE = {"scalar_file.registers": 800, "scalar_file.unit": 16, "scalar_file.per_warp": 102}
SCALAR_CACHE = {
    f"scalar_cache.{key}": value for key, value in (("bytes", 512), ("sector_bytes", 32), ("ways", 2), ("latency", 60))
}
HIT, FAR, MISS = 20, 101, 302  # cycles of a single load of 32 bytes


def latencies(accesses, changes=None, local=0, threads=32):
    """Return each load's cycles, from its service to the issue of an instruction that needs it; stores have none."""
    lines = [f".block {threads}\n.local {local}\n.buffer x u32 4096\nMOV R0, c[x]"]
    for access in accesses:
        lines += [access, "NOP"] if access.startswith("ST") else [access, "IADD R3, R2, 1"]
    run = run_text("\n".join([*lines, "EXIT"]), TAGS | (changes or {}))
    issued, served = ({pc: cycle for cycle, _, pc in cycles_of(run, kind)} for kind in ("issue", "serve"))
    return [issued[2 + 2 * i] - served[1 + 2 * i] for i, access in enumerate(accesses) if access.startswith("LD")]


def loads(*lines):
    """Return loads of the first word of each of these lines of 128 bytes."""
    return [f"LDG R2, [R0+{128 * line}]" for line in lines]
