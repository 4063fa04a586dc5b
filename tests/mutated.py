"""Kernels and machines on which mutants of the rules show (mutants.py)."""

from __future__ import annotations

BUSY = """
.grid 2
.block 96
.shared 4096
.buffer x u32 1024 = iota
    S2R R0, LANEID
    S2R R1, WARPID
    SHL R2, R0, 3
    SHL R3, R0, 2
    IADD R3, R3, c[x]
    DADD R4, R6, R8
    LDG R10, [R3]
    LDS.64 R12, [R2]
    MUFU.RCP R14, R1
    STS.64 [R2], R12
    LDS.128 R20, [RZ]
    IADD R2, R2, 8
    DFMA R6, R4, R4.reuse, R4
    DFMA R6, R6, R4, R8
    FFMA R24, R1, R2.reuse, R3.reuse
    FFMA R25, R1, R2.reuse, R3.reuse
    FFMA R26, R1, R2, R3
    LOP.XOR R25, R3, R2
    IMAD R26, R1, R2, R3
    IMAD R27, R2, R3, R1
    IMAD R26, R1, R2, R3
    IADD R25, R25, 1
    LDS R15, [R2]
    BAR.SYNC 0
    TEX R16, tex[x], R0
    FADD R17, R15, R10
    ISETP.GE P0, R1, 1
    @P0 BRA past
    LDG R18, [R3]
past:
    ISETP.GE P1, R0, 20
    @P1 BRA over
    IADD R25, R25, 2
    BRA both
over:
    IADD R25, R25, 3
both:
    BAR.SYNC 1
    ATOMS.ADD R19, [R2], R1
    STG [R3], R17
    EXIT
"""
REUSING = """
.grid 2
.block 64
.local 16
.buffer x u32 1024 = iota
    S2R R0, TID.X
    SHL R1, R0, 2
    IADD R1, R1, c[x]
    S_MOV_B32 s0, c[x]
again:
    S_LOAD_DWORDX4 s[4:7], s0, 8
    S_ADD_U32 s1, s4, s7
    LDG R2, [R1]
    LDG R9, [R1]
    IADD R5, R9, R9
    LDG R3, [R1+256]
    LDG R2, [R1]
    LDG R4, [R1+512]
    IADD R5, R2, R4
    LDG R6, [R1]
    LDC R11, [R1]
    IADD R12, R11, 1
    STG [R1+768], R5
    STL [RZ], R5
    LDL R7, [RZ]
    LDG R8, [R1+256]
    STG [R1+1024], R7
    STG [R1+1280], R8
    IADD R5, R7, R6
    IADD R10, R10, 1
    ISETP.LT P0, R10, 3
    @P0 BRA again
    EXIT
"""
CHANGES: dict[str, int | str] = {
    "schedulers.count": 2,
    "limits.blocks": 1,
    "load_store.queue": 1,
    "launch.block_latency": 10,
    "double.exclusive": "flight",
    "schedulers.dispatch_ports": 2,
    "pairing.move": "none",
    "register_file.banks": 1,
    "register_file.mapping": "modulo",
    "register_file.carried": 0,
    "register_file.collecting": 2,
    "register_file.window": 1,
    "register_file.reuse": 1,
    "register_file.returned": 2,
    **{f"write_back.{key}": 3 for key in ("lead", "patience", "notice", "room")},
    "write_back.apart": 1,
    "write_back.near": 99,
    "unit.int.pipe": "sp dp",
    "joint.fp32": "dp",
    "blocked.fp32": "sfu",
    "barrier.per_warp": 2,
    "barrier.per_arrival": 2,
    "instruction_replay.pass_slots": 1,
    "instruction_replay.request_slots": 1,
    "shared_atomic.port": 4,
    **{f"shared_atomic.{key}": 2 for key in ("war", "add_turns", "swap_turns")},
    **{f"shared_atomic.{kind}_latency": 9 for kind in ("add", "swap")},
    "memory_port.units": "special",
    **{f"memory_port.{key}": 2 for key in ("cycles", "late_cycles", "global_store")},
    **{f"memory_port.{key}": 9 for key in ("war_store", "war_global_store")},
    "memory_port.held": 4,
    **{f"memory_port.store_{width}": 5 for width in (32, 64, 128)},
    **{f"memory_port.early_{width}": 3 for width in (64, 128)},
}
FETCH: dict[str, int | str] = {
    "fetch.line": 2,
    "fetch.ahead": 1,
    **{f"fetch.{level}_{key}": 4 for level in ("l0", "l1") for key in ("lines", "ways")},
    **{f"fetch.{level}_latency": 9 for level in ("l1", "l15", "memory")},
    **{f"fetch.{level}_parts": 100 for level in ("l1", "l15", "memory")},
    "fetch.l15_lines": 0,
    "fetch.l15_ways": 1,
}
COUNTERS: dict[str, int | str] = {"wait_counters.vector": 1, "wait_counters.shared": 1}


CODES: dict[str, int | str] = {
    "dependence.rule": "codes",
    "dependence.yield_stall": 3,
    "dependence.yield_rest": 20,
    "dependence.variable": "sfu fp32",
    "outstanding.vector": 1,
    "outstanding.shared": 1,
    "schedulers.policy": "cggty",
    "double.exclusive": "off",
    "selection.keeps": "fp32",
    "selection.freezes": 1,
    "selection.full_yields": 1,
    **{f"unit.{unit}.latency": 9 for unit in ("int", "shift", "imul", "logic")},  # short enough for stall counts
    "schedulers.count": 1,
}


# The L1 has two lines, the L2 four, of which two are near; the DRAM is slow enough to matter.
TAGS: dict[str, int | str] = {
    "cache.hits": "tags",
    "chip.dram_mbs": 4000,
    "l1.bytes": 256,
    "l1.sector_bytes": 64,
    "l1.ways": 2,
    "l1.misses": 3,
    "l2.bytes": 512,
    "l2.ways": 4,
    "l2_partition.bytes": 256,
    "l2_partition.sector_bytes": 32,
    "l2_partition.ways": 2,
    "l2_partition.late": 30,
    "scalar_cache.bytes": 128,
    "scalar_cache.sector_bytes": 32,
    "scalar_cache.ways": 1,
    "scalar_cache.latency": 9,
    "scalar_file.registers": 800,
    "scalar_file.unit": 16,
    "scalar_file.per_warp": 102,
}


# The L2 holds all, each way to it is slow, and few stores may wait; half of the lines lie far away.
CHANNEL: dict[str, int | str] = TAGS | {
    "global_memory.rule": "sectors",
    "l1.lines_per_cycle": 2,
    "l1.joined": 3,
    "l1.global_stores": "update",
    "tag_stage.late_parts": 100,
    "tag_stage.late_lines": 2,
    "tag_stage.late_most": 3,
    "tag_stage.store_parts": 200,
    "tag_stage.store_word_parts": 100,
    "tag_stage.store_sector_parts": 150,
    "tag_stage.late_asks": 2,
    "l2.bytes": 32768,
    "l2_partition.bytes": 32768,
    "l2_channel.store_parts": 300,
    "l2_channel.store_line_parts": 200,
    "l2_channel.store_buffer": 20,
    "l2_channel.store_lines": 2,
    "l2_channel.store_wait": 60,
    "l2_channel.store_line_wait": 30,
    "l2_channel.slice_ahead": 1,
    "l2_channel.spread": 7,
    "cache.l2_sector_parts": 20,
    "l2_channel.load_line_parts": 200,
    "l2_channel.load_least_bytes": 200,
    "l2_channel.load_bytes": 4,
    "l2_channel.store_bytes": 4,
    "l2_channel.answer_bytes": 4,
    "constant_cache.bytes": 1024,
    "constant_cache.next_latency": 40,
    "constant_cache.next_bytes": 256,
    "global_atomic.latency": 50,
    "global_atomic.packet_parts": 60,
    "dram.least_bytes": 300,
    "dram.varies": 90,
    "dram.together_bytes": 128,
    "dram.queue": 5000,
    "l2_atomic.slices": 3,
    "l2_atomic.bytes": 512,
    "l2_atomic.sector_parts": 900,
    "l2_atomic.whole_parts": 700,
    "l2_atomic.real_parts": 900,
    "l2_atomic.waiting": 20,
}
APART = """
.grid 2
.block 96
.shared 512
    S2R R0, CTAID.X
    S2R R1, CTAID.Y
    LDS R2, [RZ]
    S2R R3, LANEID
    IADD R4, R0, R1
    IADD R5, R2, R3
    EXIT
"""
STORING = """
.grid 2
.block 64
.buffer x u32 8192 = iota
    S2R R0, TID.X
    SHL R1, R0, 2
    IADD R1, R1, c[x]
    SHL R2, R0, 7
    IADD R2, R2, c[x]
    MOV R3, c[x]
    LDC R4, [R3]
    IADD R5, R4, 1
    LDC R4, [R3+128]
    IADD R5, R4, R5
    STG [R2], R5
    STG [R2+4], R5
    STG [R1+2048], R5
    STG [R1+2048], R0
    LDG R6, [R1]
    LDG R7, [R1]
    IADD R8, R6, R7
    LDG R6, [R2]
    LDG R7, [R1+4096]
    IADD R8, R6, R7
    STG [R1+4096], R8
    RED.ADD [R3+1024], R8
    RED.ADD [R1+1024], R8
    RED.ADD [R3+1024], R8
    LDG R9, [R1+8192]
    IADD R9, R9, R8
    EXIT
"""
