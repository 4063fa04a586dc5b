"""The choices for the optional sections of a random machine (`launches.py`)."""

from __future__ import annotations

from collections.abc import Sequence

from gpusim.machine.schema import PIPE_UNITS
from isa.nvidia.rows.tensor.matrix import KINDS

FETCHES: dict[str, Sequence[int]] = {
    "fetch.line": (1, 2, 5),
    "fetch.ahead": (0, 1, 3),
    "fetch.l0_lines": (2, 4),
    "fetch.l0_ways": (1, 2),
    "fetch.l1_lines": (4, 8, 8, 256),
    "fetch.l1_ways": (1, 2, 4),
    "fetch.l1_latency": (0, 3, 20),
    "fetch.l1_parts": (0, 40, 136),
    "fetch.l15_lines": (0, 16),
    "fetch.l15_ways": (1, 4),
    "fetch.l15_latency": (5, 30),
    "fetch.l15_parts": (0, 500),
    "fetch.l15_apart_parts": (0, 300, 900),
    "fetch.memory_latency": (1, 100),
    "fetch.memory_parts": (0, 100, 1000),
}
OTHER_PIPES: dict[str, Sequence[int | str]] = {
    "unit.int.pipe": ("sp", "int16"),
    "unit.fp32.pipe": ("sp", "sp int16"),
    "joint.int": ("dp", "tex"),
    "blocked.fp32": ("dp", "sfu"),
    "blocked.int": ("sfu", "tex"),
}
SELECTIONS: dict[str, Sequence[int | str]] = {
    "selection.keeps": ("none", "fp32 dp", " ".join(PIPE_UNITS), "int special"),
    "selection.freezes": (0, 1, 1),
    "selection.full_yields": (0, 1, 1),
    "double.exclusive": ("off",),
}
OUTSTANDING: dict[str, Sequence[int | str]] = {"outstanding.vector": (1, 2, 63), "outstanding.shared": (1, 3, 50)}
CONSTANT_OPERANDS: dict[str, Sequence[int | str]] = {
    "constant_operand.first_byte": (0, 528),
    "constant_operand.line_bytes": (4, 8, 64),
    "constant_operand.latency": (0, 7, 70),
    "constant_operand.far_lines": (1, 2, 4),
    "constant_operand.far_latency": (0, 30, 300),
    "constant_operand.next_cycles": (0, 0, 5, 33),
    "constant_operand.parameters_near": (0, 0, 1),
}
REGISTER_FILES: dict[str, Sequence[int | str]] = {
    "register_file.banks": (1, 1, 2, 4),
    "register_file.mapping": ("modulo", "kepler", "kepler", "modulo", "none"),
    "register_file.carried": (0, 0, 1),
    "register_file.collecting": (0, 1, 1, 2),
    "register_file.window": (0, 1, 1, 2),
    "register_file.reuse": (0, 1, 2),
    "register_file.reuse_shared": (0, 1),
    "register_file.returned": (0, 0, 1, 4),
    "register_file.address_again": (0, 0, 1, 3),
    "register_file.matrix_slack": (0, 1, 2),
    "schedulers.interval": (1, 1, 2, 4),  # issue is fast enough for operands to be late
    "schedulers.issue_interval": (1, 1, 2, 6),
    "pipe.sp.lanes": (16, 32, 32),
    "pipe.int16.lanes": (16, 32, 32),
}
MATRIX: dict[str, Sequence[int]] = {
    "interval": (1, 2, 6, 16),
    "latency": (1, 4, 18, 40),
    "memory": (0, 1, 3),
    **dict.fromkeys(("first", "second", "addend"), (0, 1, 2, 5)),
    "written": (0, 1, 4, 9),
    "depth": (0, 0, 3, 8),
    "sparse": (0, 3, 9),
}
MATRICES = {f"matrix.{kind}.{key}": numbers for kind in KINDS for key, numbers in MATRIX.items()}
WRITE_BACK: dict[str, Sequence[int | str]] = {
    "write_back.lead": (1, 7, 30),
    "write_back.apart": (0, 2, 3),
    "write_back.patience": (1, 1, 2, 14),
    "write_back.notice": (1, 2, 3),
    "write_back.near": (0, 16, 16, 99),
    "write_back.room": (0, 1, 3, 20),
}
BLOCK_ORDER: dict[str, Sequence[int | str]] = {"block_order.oldest_first": (0, 1, 1)}
MEMORY_CHANNELS: dict[str, Sequence[int | str]] = {
    "memory_channels.count": (1, 2, 3, 8),
    "memory_channels.bytes": (128, 256, 1024),
}
ASYNC_COPIES: dict[str, Sequence[int | str]] = {
    "async_copy.cycles": (1, 4),
    "async_copy.behind_passes": (2, 9),
    "async_copy.port": (1, 6),
    "async_copy.pass_parts": (0, 20, 100),
    "async_copy.line_parts": (0, 64, 150),
    "async_copy.passes_ahead": (0, 8, 100),
    "async_copy.lines_ahead": (0, 20, 400),
    "async_copy.request_parts": (1, 40, 300),
    "async_copy.l1_latency": (5, 40),
    **{f"async_copy.l2_latency_{width}": (9, 220) for width in (32, 64, 128, "bypass")},
    "async_copy.close": (1, 3),
    "async_copy.close_latency": (1, 30),
}
FENCES: dict[str, Sequence[int | str]] = {
    "fence.gpu": (1, 20, 200),
    "fence.system": (7, 500),
    "fence.loads": (0, 40),
    "fence.stores": (0, 60, 300),
}
MATCHES: dict[str, Sequence[int | str]] = {
    "match.cycles": (1, 2, 5),
    "match.port": (1, 4, 9),
    "match.latency_32": (1, 30),
    "match.latency_64": (40,),
    "match.value_32": (0, 11),
    "match.value_64": (13,),
}
SECTIONS = (
    OTHER_PIPES,
    FETCHES,
    OUTSTANDING,
    CONSTANT_OPERANDS,
    WRITE_BACK,
    BLOCK_ORDER,
    MEMORY_CHANNELS,
    FENCES,
    ASYNC_COPIES,
    MATCHES,
)  # each is drawn or left out on its own
MEMORY_PORTS: dict[str, Sequence[int | str]] = {
    "memory_port.units": ("none", "shuffle reduce special", "special int dp"),
    "memory_port.cycles": (1, 2, 5),
    "memory_port.store_32": (1, 9),
    "memory_port.store_64": (1, 9),
    "memory_port.store_128": (1, 9),
    "memory_port.global_store": (1, 9),
    "memory_port.special": (0, 1, 2, 5),
    "memory_port.skipped": (0, 1, 3),
    "memory_port.skipped_latency": (1, 20),
    "memory_port.late_cycles": (1, 3),
    "memory_port.early_64": (0, 7),
    "memory_port.early_128": (0, 7),
    "memory_port.war_store": (0, 15),
    "memory_port.war_global_store": (0, 15),
    "memory_port.held": (0, 0, 1, 12),
    "shared_memory.latency_64": (26, 38),  # so that results may come early
    "shared_memory.latency_128": (26, 38),
}
CONSTANT_PATHS: dict[str, Sequence[int | str]] = {
    "constant_path.cycles": (1, 2, 7),
    "constant_path.latency": (3, 25),
}
PORTS_APART = MEMORY_PORTS | CONSTANT_PATHS
CODES: dict[str, Sequence[int | str]] = {
    "dependence.rule": ("scoreboard", "codes", "codes", "codes"),
    "dependence.yield_stall": (0, 2, 5),
    "dependence.yield_rest": (12,),
    "dependence.variable": ("none", "sfu special dp", " ".join(PIPE_UNITS)),
}
