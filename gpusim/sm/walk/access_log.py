"""What a block does to memory, row by row, while it runs in program order: its accesses, and releases from barriers.

A row has a turn (warps of one turn execute one instruction together), the instruction, the warp, and for each of its
lanes whether it is active, and the byte address, as a place if it is generic (isa.operands.windows). What lanes that
are not active have there means nothing. Of matrices only lanes that name rows are active.
A fetch by a texture object has a row for each corner around its lanes' points.
The row of a release has RELEASE in place of an instruction, and warps in place of lanes. Of a cluster warps are
numbered through all its blocks.

Where that is asked for (`Log.wanted`), further rows have an instruction's number below a mark: what it does that ends
later, or what it waits for (gpusim.sm.walk.marks).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusim.sm.jit.rule import borrow, rarely, rule
from gpusim.sm.lanes.values import values
from gpusim.sm.memory.matrix_access import matrix_access
from gpusim.sm.memory.memory_access import addresses, memory_access
from gpusim.sm.memory.texture import texel, texture_object
from gpusim.sm.records import Numbers, Row, Sm, Table
from gpusim.sm.unit.capacities import BARRIERS, GROUPS, LANES, WARPS
from gpusim.sm.unit.opcodes import FETCH

TURN, PC, WARP, ACTIVE = 0, 1, 2, 3  # of a row; two words of active lanes
FIRST = ACTIVE + GROUPS  # of the addresses
RELEASE = 0xFFFFFFFF
WORD = np.int64(0xFFFFFFFF)
MOST = 1 << 13  # rows
PHASES = 64  # barriers in shared memory that are seen
MARGIN = (texture_object.CORNERS + 4) * WARPS  # rows that a turn may need


class Log(NamedTuple):
    """The rows so far, none if nothing is noted; `size` has their number, and the turn.

    `members` has the warps that have come to each barrier of each block since it last released some. `wanted` has by
    pc what more is noted of an instruction, none if nothing is; `phases` the barriers in shared memory that were seen
    so, how many, and then the place and the parity of each.
    """

    rows: Table
    size: Numbers
    members: Numbers
    wanted: Numbers
    phases: Numbers


def room(lanes: int, most: int = MOST, wanted: NDArray[np.int64] | None = None, blocks: int = 1) -> Log:
    """Return room for so many rows of warps with so many lanes, of a cluster's blocks; of none, nothing is noted."""
    more = np.zeros(0, np.int64) if wanted is None else wanted
    counted = np.zeros(BARRIERS * blocks, np.int64)
    phases = np.zeros(1 + 2 * PHASES, np.int64)
    return Log(np.zeros((most, FIRST + lanes), np.uint32), np.zeros(2, np.int64), counted, more, phases)


@rule
def borrowed(log: Log) -> Log:
    """Return the same arrays without their reference counts (gpusim.sm.jit.rule.borrow)."""
    return Log(borrow(log.rows), borrow(log.size), borrow(log.members), borrow(log.wanted), borrow(log.phases))


@rule
def is_full(log: Log) -> bool:
    """Tell whether a turn may need more rows than are left."""
    return bool(0 < log.rows.shape[0] < log.size[0] + MARGIN)


@rule
def find(sm: Sm, log: Log, g: int, pc: int) -> None:
    """Write the addresses of the instruction that comes next into the row behind all others, if it accesses memory.

    A load may overwrite the registers that they come from.
    """
    instruction, row = sm.program[pc], log.rows[log.size[0]]
    if not (memory_access.accesses(instruction) or instruction.action == FETCH):
        return
    for half in range(sm.machine.groups):
        if instruction.action == FETCH:
            _find_elements(sm, instruction, g * sm.machine.groups + half)
        else:
            addresses.find(sm, instruction, g * sm.machine.groups + half)
        _copy(sm.scratch.address, row, FIRST + half * LANES)


@rarely
def _find_elements(sm: Sm, instruction: Row, group: int) -> None:
    """Set the addresses of the elements of a named buffer that a fetch reads."""
    if not instruction.fetches:
        values.operands(sm.scratch, sm.lanes[group], instruction)
        for lane in range(LANES):
            sm.scratch.address[lane] = texel.texel(sm.scratch, instruction, lane)


@rule
def _copy(source: Numbers, row: Numbers, first: int) -> None:
    for lane in range(LANES):
        row[first + lane] = source[lane]


@rule
def note(sm: Sm, log: Log, g: int, pc: int) -> None:
    """Keep the row whose addresses were found, now that the instruction has been executed, if it accesses memory."""
    instruction, lanes = sm.program[pc], sm.warps[g].lanes
    if memory_access.accesses(instruction):
        low, high = sm.outcome.active[0] & lanes[0], sm.outcome.active[1] & lanes[1]
        if instruction.matrices:
            low, high = matrix_access.naming(instruction, low), matrix_access.naming(instruction, high)
        append(sm, log, g, pc, low, high if sm.machine.groups > 1 else 0)
    elif instruction.action == FETCH:
        _note_fetch(sm, log, g, pc)


@rarely
def _note_fetch(sm: Sm, log: Log, g: int, pc: int) -> None:
    """Keep the row of a fetch, or one for each corner that lanes have, the first one in any case."""
    instruction, active = sm.program[pc], sm.outcome.active[0]
    if not instruction.fetches:
        append(sm, log, g, pc, active, sm.outcome.active[1] if sm.machine.groups > 1 else 0)
        return
    for corner in range(texture_object.CORNERS):
        there = texture_object.located(sm, int(instruction.fetches) - 1, active, corner)
        if corner == 0 or there:
            _copy(sm.scratch.address, log.rows[log.size[0]], FIRST)
            append(sm, log, g, pc, there, 0)


@rule
def append(sm: Sm, log: Log, g: int, pc: int, low: int, high: int) -> None:
    """Keep the row behind all others, whose addresses are there."""
    row = log.rows[log.size[0]]
    row[TURN], row[PC], row[WARP] = np.uint32(log.size[1] & WORD), np.uint32(pc), np.uint32(number(sm, g))
    row[ACTIVE], row[ACTIVE + 1] = np.uint32(low & WORD), np.uint32(high & WORD)
    log.size[0] += 1


@rule
def number(sm: Sm, g: int) -> int:
    """Return the number of a warp in its cluster."""
    return int(g + sm.launch.rank * sm.launch.warps)


@rarely
def arrive(sm: Sm, log: Log, g: int) -> None:
    """Note that a warp has come to its barrier."""
    log.members[sm.launch.rank * BARRIERS + sm.warps[g].waits_for] |= np.int64(1) << np.int64(g)


@rarely
def note_releases(sm: Sm, log: Log) -> None:
    """Note which barriers have released those that had come to them."""
    for barrier in range(BARRIERS):
        at = sm.launch.rank * BARRIERS + barrier
        who = log.members[at]
        if who != 0 and sm.blocks[0].barriers[barrier].arrived == 0:
            log.members[at] = 0
            append(sm, log, 0, RELEASE, who, who >> 32)
