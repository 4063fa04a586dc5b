"""What an instruction's execution consists of, in numbers that the rules read: actions, memories, functions."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import Any, NamedTuple

from isa import table
from isa.row import Flow, Row, Unit
from isa.table import ROWS
from isa.values.cross_lane import Tile, all_match, match_all, match_any

# What the execution of an instruction consists of: control, which no value decides here; one function of its operands;
# an access to memory.
NOTHING, BARRIER, BRANCH, EXIT = range(4)
COMPUTE = 4
LOAD, STORE, FETCH = range(5, 8)
MULTIPLY = 8  # a matrix instruction of a warpgroup, which is computed later
SIGNAL, COMMAND = range(9, 11)  # to a barrier in shared memory; of the copy engine
# Where a memory instruction goes.
SHARED_MEMORY, GLOBAL_MEMORY, LOCAL_MEMORY = range(3)
# The unit behind the queues that serves it: shared memory and constants may have one apart.
LOAD_STORE, APART, MATCHES = range(3)

UNIT_CODE = {unit: code for code, unit in enumerate(Unit)}
UPDATES = table.UPDATES
QUEUED = {  # of the load/store unit
    Unit.SHARED: SHARED_MEMORY,
    Unit.GLOBAL: GLOBAL_MEMORY,
    Unit.CONSTANT: GLOBAL_MEMORY,
    Unit.LOCAL: LOCAL_MEMORY,
}
NEARBY = frozenset({Unit.SHARED, Unit.SMEM, Unit.CONSTANT})  # what these load is waited for, and counted, apart
MEMORY_KINDS = QUEUED | {Unit.SMEM: GLOBAL_MEMORY}
WHOLE = 2  # in the column guard_negated: the guard is that of the warp as a whole


def done_aside(form: Row) -> int:
    """Return the action of what does not end with its own results: SIGNAL, COMMAND or MULTIPLY; of others NOTHING."""
    if form.unit is Unit.WARPGROUP:
        return MULTIPLY
    return SIGNAL if form.signal else COMMAND if form.bulk else NOTHING


class Of(Enum):
    """What a function is given, and so how it is called."""

    LANES = auto()  # a, b, c of a lane
    NUMBER = auto()  # these and the number n, which is the same for all lanes
    GENERAL = auto()  # a, b, c, the predicates p of a lane, and n (isa.values.general)
    WARP = auto()  # a, b, c of all lanes, and which take part (isa.values.cross_lane)


class Function(NamedTuple):
    """A function of a row, the 32-bit words that it takes of each source, and those that it gives; 0: truths."""

    of: Of
    function: Callable[..., Any]
    takes: int = 1
    gives: int = 1


class Held(Enum):
    """What the SM gives that is no function of operands; `takes` as a Function's."""

    SPECIAL = auto()  # a special register
    FOUND = auto()  # what the warp's last BAR.RED found
    FOUND_ANY = auto()  # whether that is not 0
    MOVED = auto()  # a convergence barrier, which a's word may become

    @property
    def takes(self) -> int:
        """A word of each source."""
        return 1


PAIRS = frozenset({match_any, match_all, all_match})  # compare operands of up to two words


def value_of(form: Row) -> Function | Held | None:
    """Return the function that gives d, if there is one."""
    if form.result is not None:
        return Function(Of.GENERAL, form.result, 2, 2)
    if form.reads_special or form.reads_barrier:
        return Held.SPECIAL if form.reads_special else Held.FOUND
    if form.across is not None:
        return _of_warp(form.across)
    if form.value is not None and not form.compares:
        return Function(Of.NUMBER if "n" in form.form else Of.LANES, form.value, form.source.words, form.words)
    return Held.MOVED if form.flow is Flow.MOVE else None


def truth_of(form: Row) -> Function | Held | None:
    """Return the function that gives the predicates written, if there is one."""
    if form.truth is not None:
        return Function(Of.GENERAL, form.truth, 2, 0)
    if form.reads_barrier:
        return Held.FOUND_ANY
    if form.across_truth is not None:
        return _of_warp(form.across_truth, gives=0)
    return Function(Of.LANES, form.value, form.source.words, 0) if form.value is not None and form.compares else None


def _of_warp(across: Callable[..., Any], gives: int = 1) -> Function:
    gives = across.gives if isinstance(across, Tile) else gives
    return Function(Of.WARP, across, 2 if across in PAIRS else 1, gives)


FUNCTIONS: tuple[Function | Held, ...] = tuple(
    dict.fromkeys(
        [
            *(one for form in ROWS for one in (value_of(form), truth_of(form)) if one is not None),
            *(Function(Of.GENERAL, result, 2, 2) for result in table.RESULTS),
            *(Function(Of.GENERAL, truth, 2, 0) for truth in table.TRUTHS),
            *(_of_warp(across) for across in table.ACROSS),
            *(_of_warp(across, gives=0) for across in table.ACROSS_TRUTHS),
            *Held,
        ]
    )
)
INDEX = {function: place for place, function in enumerate(FUNCTIONS)}
