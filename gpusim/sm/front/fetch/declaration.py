"""Instruction fetch: the caches through which a program's lines come to its warps."""

from __future__ import annotations

from typing import Annotated

import msgspec

from gpusim.sm.unit.asks import never
from gpusim.sm.unit.capacities import CACHED
from gpusim.sm.unit.declare import Condition, Declaration, Role, field, packed_key
from gpusim.sm.unit.dimensions import CACHED_LINE, INSTRUCTION_CACHE, LEVELS
from gpusim.sm.unit.ranges import Count, Positive


class Fetch(msgspec.Struct, frozen=True):
    """How instructions come to a warp: by lines; those that its scheduler's own cache holds are always there.

    There is no L1.5 of no lines. A port passes one line in so many parts, 1/64 cycles; what misses goes through the
    ports of all levels on its way, and takes the latency of the level where it hits. SMs share the L1.5's port.
    """

    line: Positive  # instructions of one line
    ahead: Count  # lines behind the one that a warp enters that are asked for with it, and one more if none is missing
    l0_lines: Annotated[int, msgspec.Meta(ge=1, le=CACHED)]  # lines of each scheduler's L0
    l0_ways: Positive  # lines of one set of the L0
    l1_lines: Annotated[int, msgspec.Meta(ge=1, le=CACHED)]  # lines of the SM's L1
    l1_ways: Positive  # lines of one set of the L1
    l1_latency: Count  # cycles of a hit in the L1
    l1_parts: Count  # 1/64 cycles for which a line keeps the L1's port
    l15_lines: Annotated[int, msgspec.Meta(ge=0, le=CACHED)]  # lines of the L1.5, behind the SM's L1
    l15_ways: Positive  # lines of one set of the L1.5
    l15_latency: Count  # cycles of a hit in the L1.5
    l15_parts: Count  # 1/64 cycles for which a line keeps the L1.5's port
    memory_latency: Count  # cycles of a line that no cache of instructions holds
    memory_parts: Count  # 1/64 cycles for which such a line keeps its port
    l15_apart_parts: Count = 0  # 1/64 cycles that a line keeps the L1.5's port, at least, in grids beyond one wave


OWN_CACHE = 0  # the level of a scheduler's own cache


UNIT = Declaration(
    "fetch",
    fields={
        "machine": (
            field("fetches", "1: instructions may be late"),
            packed_key("fetch.ahead"),
            field("levels", "from the nearest to the first that has every line", LEVELS, kind="level"),
        ),
        "level": (
            field("sets", "0: it has every line"),
            field("ways", "lines of a set"),
            field("latency", "cycles from its port to the scheduler"),
            field("parts", "parts of a cycle for which a line keeps the port"),
        ),
        "row": (field("line", "of the program, as instruction caches have it", kind="i4"),),
        "warp": (field("line", "the line of that, or of its last instruction, where fetch counts", role=Role.SAME),),
        "sm": (
            field("lines", "of the program", role=Role.FIXED),
            field(
                "instruction_caches", "the SM's, then the schedulers' own", INSTRUCTION_CACHE, kind="instruction_cache"
            ),
        ),
        "instruction_cache": (
            field("free", "when its port takes the next request", role=Role.TIME),
            field("owed", "parts of a cycle by which the port is free later than `free`", role=Role.SAME),
            field(
                "lines",
                "set by set, lines + 1 by their last use, the latest first; 0: none",
                CACHED_LINE,
                role=Role.SAME,
            ),
            field("there", "when each of them has come", CACHED_LINE, role=Role.TIME),
        ),
    },
    conditions=(
        Condition(
            "fetch.*",
            "ahead levels lines rows.line",
            lambda g: bool(g.record.fetches),
            "all of {kernel} fits into the schedulers' own caches",
        ),
        Condition(
            "fetch.l15_apart_parts",
            "",
            never,
            "{kernel} has one wave of blocks, a nearer cache holds all of it, or fetch.l15_parts is more",
        ),
        Condition("fetch.*", "", never, "a nearer cache holds all of {kernel}"),
    ),
    limits={"instruction fetch": {"fetch.*_latency": 0, "fetch.*_parts": 0}},
)
