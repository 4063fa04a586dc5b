"""Memory accesses of a warp: what is remembered of their addresses and cost, and the data that they move.

The lane groups of a warp follow each other, and their costs add up. A cost (`access_cost`) depends on the addresses
alone, and is remembered per lane group and instruction. It stays valid while the address register is not written again,
and also if all addresses have moved together by whole lines and rows of banks.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import lowest_bit, rule
from gpusim.sm.memory import versions
from gpusim.sm.memory.async_copy import async_copy
from gpusim.sm.memory.lookahead import word_owner
from gpusim.sm.memory.matrix_access import matrix_access
from gpusim.sm.memory.memory_access import access_cost, addresses, move
from gpusim.sm.records import Feed, Memory, Row, Sm, Warp, Word
from gpusim.sm.unit.capacities import LANES, REMEMBERED, REMEMBERED_BITS
from gpusim.sm.unit.opcodes import GLOBAL_MEMORY, LOAD, SHARED_MEMORY, STORE
from isa.operands.windows import LOCAL_PLACE, PEER_BYTES, SHARED_PLACE, WINDOW_BYTES

FAR = 1 << 31  # bytes between lanes that are not remembered


@rule
def accesses(instruction: Row) -> bool:
    """Tell whether the instruction accesses memory, so that its addresses determine its time in the load/store unit."""
    return instruction.action == LOAD or instruction.action == STORE  # noqa: PLR1714  (compiles to two compares)


@rule
def loads_shared(instruction: Row) -> bool:
    """Tell whether the instruction loads from shared memory."""
    return bool(instruction.action == LOAD and instruction.memory_kind == SHARED_MEMORY)


@rule
def access(sm: Sm, memory: Memory, g: int, group: int, active: int) -> bool:
    """Do a lane group's access and add its cost to `sm.outcome`. False: `sm.fault` says which address is bad."""
    instruction = sm.program[sm.warps[g].pc]
    if instruction.copies:
        active = async_copy.begin(sm, memory, g, group, active)
        if active <= 0:
            sm.outcome.cycles += sm.outcome.written
            return active == 0
    moves = active
    if instruction.matrices:
        active = matrix_access.naming(instruction, active)
        if active == 0:
            return _of_no_row(sm, memory, instruction, g, group, moves)
    remembered, version = sm.feed[group, place(instruction)], _version(sm.warps[g], instruction)
    mask = active | np.int64(instruction.feed) >> REMEMBERED_BITS << LANES
    known = version > 0 and remembered.version == version and remembered.mask == mask and sm.machine.channels == 1
    if not known or instruction.located:
        addresses.find(sm, instruction, group)
        if instruction.wide_address and not addresses.in_window(sm, g, group, active):
            return False
    seen = sm.beyond.loads
    if not known:
        if not addresses.checked(sm, instruction, remembered, g, group, active):
            return False
        if not _recurs(sm, remembered, active, mask, instruction.generic) or sm.machine.channels > 1:
            if instruction.generic:
                access_cost.generic_cost(sm, instruction, remembered, active)
            else:
                access_cost.cost(sm, instruction, remembered, active)
        again = sm.beyond.loads != seen  # such loads are counted each time
        remembered.version, remembered.mask = 0 if again else version, int(mask)
    outcome = sm.outcome
    passes = async_copy.written(sm, instruction, group, active) if instruction.copies else 0
    outcome.cycles += max(int(remembered.cycles), int(passes))
    outcome.transactions += remembered.transactions
    outcome.read += remembered.cycles
    outcome.extra = access_cost.extra(sm.machine, instruction, outcome.read)
    if instruction.generic:
        outcome.extra, outcome.near = remembered.extra, remembered.near
    return not instruction.evaluate or _move(sm, memory, instruction, g, group, moves)


@on_demand
def _of_no_row(sm: Sm, memory: Memory, instruction: Row, g: int, group: int, active: int) -> bool:
    """Access matrices of which no row is named: it costs nothing more. Return that it is no fault."""
    sm.outcome.extra = access_cost.extra(sm.machine, instruction, sm.outcome.cycles)
    return not instruction.evaluate or _move(sm, memory, instruction, g, group, active)


@rule
def _move(sm: Sm, memory: Memory, instruction: Row, g: int, group: int, active: int) -> bool:
    """Move the data of a lane group's access; False: `sm.fault` says why they may not be moved."""
    if sm.ahead.owners and instruction.memory_kind == GLOBAL_MEMORY and not word_owner.take(sm, memory, g, active):
        return False
    if instruction.copies:
        async_copy.bring(sm, memory, g, group, active)
        return True
    if instruction.matrices:
        matrix_access.move(sm, memory, g, group, active)
    else:
        move.move(sm, instruction, memory, g, group, active)
    for i in range(instruction.writes):
        versions.new_version(sm, g, int(instruction.write[i]))
    return True


@rule
def place(instruction: Row) -> int:
    """Return where the cost of the instruction's accesses is remembered, as may be that of other instructions."""
    return instruction.feed & (REMEMBERED - 1)


@rule
def _version(warp: Warp, instruction: Row) -> int:
    """Return the number of the last write of a register that the address depends on; 1 if it is fixed."""
    version = warp.version[instruction.pointer] if instruction.pointer >= 0 else 1
    if instruction.wide_address or instruction.uniform_base >= 0:
        if instruction.pointer_pair:
            version = max(version, warp.version[instruction.pointer + 1])
        if instruction.uniform_base >= 0:
            version = max(version, warp.version[instruction.uniform_base])
        if instruction.base_pair:
            version = max(version, warp.version[instruction.uniform_base + 1])
    return version


@rule
def _window(place: Word) -> Word:
    """Return where the window of a place begins, or the shared memory of its block."""
    peers = SHARED_PLACE <= place < LOCAL_PLACE
    return place // PEER_BYTES * PEER_BYTES if peers else place // WINDOW_BYTES * WINDOW_BYTES


@rule
def _recurs(sm: Sm, remembered: Feed, active: int, mask: Word, generic: int) -> bool:
    """Tell whether the addresses equal those of the known cost, moved together by whole lines and rows of banks.

    Those of generic addresses must be in the same window. Where they lie in several, the cost is worked out anew.
    """
    address = sm.scratch.address
    base = np.int64(address[lowest_bit(active)])
    residue = base % sm.machine.row_bytes + (_window(base) if generic else 0)
    same = remembered.mask == mask and remembered.residue == residue
    for lane in range(LANES):
        step = (np.int64(address[lane]) - base) * ((active >> lane) & 1)
        if step < -FAR or step >= FAR:
            residue, step = np.int64(-1), np.int64(0)
        same = same and step == remembered.step[lane]
        remembered.step[lane] = step
    remembered.residue = int(residue)
    return bool(same and residue >= 0)
