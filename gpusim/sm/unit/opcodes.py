"""What an instruction's execution consists of, in numbers that the rules read: actions, memories, value functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from isa import table
from isa.row import Unit
from isa.table import RESULTS, ROWS

# What the execution of an instruction consists of.
NOTHING, ARITHMETIC, ARITHMETIC64, COMPARISON, SPECIAL, LOAD, STORE, FETCH, BARRIER, BRANCH, EXIT = range(11)
LOOKUP, CROSS_LANE, CONVERSION = 11, 12, 13  # by truth table; from other lanes; between widths
GENERAL = 14  # with predicates read or written beside its operands, or with sources of several widths
RESULT = 15  # what the last BAR.RED of a block's barrier found
MOVE_BARRIER = 16  # between a convergence barrier and a register
# Where a memory instruction goes.
SHARED_MEMORY, GLOBAL_MEMORY, LOCAL_MEMORY = range(3)

UNIT_CODE = {unit: code for code, unit in enumerate(Unit)}
COMPARISONS = tuple(dict.fromkeys(row.value for row in ROWS if row.value and row.compares))
VALUES64 = tuple(dict.fromkeys(row.value for row in ROWS if row.value and row.width == row.source.width == 64))
LOOKUPS = tuple(dict.fromkeys(row.value for row in ROWS if row.value and row.form[-1] == "n"))
CONVERSIONS = tuple(row.value for row in ROWS if row.value and row.sources)  # to 64 bits, to 32 bits
WORDWISE = [row for row in ROWS if row.value and row.form[0] in "dD" and row.form[-1] != "n" and row.width == 32]
VALUES32 = tuple(dict.fromkeys(row.value for row in WORDWISE if row.value and not row.sources))
UPDATES, ACROSS, ACROSS_TRUTHS = table.UPDATES, table.ACROSS, table.ACROSS_TRUTHS
GROUPS: Mapping[int, tuple[Callable[..., Any], ...]] = {
    ARITHMETIC: VALUES32,
    ARITHMETIC64: VALUES64,
    COMPARISON: COMPARISONS,
    LOOKUP: LOOKUPS,
    CROSS_LANE: ACROSS,
    CONVERSION: CONVERSIONS,
    GENERAL: RESULTS,
}
QUEUED = {  # of the load/store unit
    Unit.SHARED: SHARED_MEMORY,
    Unit.GLOBAL: GLOBAL_MEMORY,
    Unit.CONSTANT: GLOBAL_MEMORY,
    Unit.LOCAL: LOCAL_MEMORY,
}
NEARBY = frozenset({Unit.SHARED, Unit.SMEM, Unit.CONSTANT})  # what these load is waited for, and counted, apart
MEMORY_KINDS = QUEUED | {Unit.SMEM: GLOBAL_MEMORY}
WHOLE = 2  # in the column guard_negated: the guard is that of the warp as a whole
