"""Slices of the L2, which do the atomics, and the stores of all blocks to the same lines, one after the other.

A pass of an atomic, as it left the SM, takes its slice for each of its sectors, twice if several lanes compare and
swap, or add several real numbers of 64 bits there; one behind another of its line at least until what that changes is
there, in which the slice does other lines. Where one SM stands for all, the others do their atomics at the same time:
at the same lines; or, if each block has its own place, spread over all slices, near places in one; or as a walk of some
blocks found (gpusim/engines/slice_share.py). A hash of the line's number, the model's own, chooses the slice. Stores of
all blocks to the same places take slices, too.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.memory.cache.declaration import SHARE_PARTS
from gpusim.sm.memory.l2_atomic.declaration import ALONE, SLICE_SHIFT, TURNS
from gpusim.sm.memory.l2_channel import held_stores
from gpusim.sm.memory.l2_share.declaration import SPREADING
from gpusim.sm.records import MachineNumbers, Row, Sm
from gpusim.sm.unit.opcodes import STORE
from isa.memory import SECTOR_BYTES

PASSES, OF_LANES, FIELD = 8, 16, 255  # first bits of a request's noted passes and lanes; below them the passes' sectors


@rule
def slice_of(machine: MachineNumbers, line: int) -> int:
    """Return the slice of a line."""
    piece = np.int64(line // machine.slice_lines)
    return int(((piece // TURNS * 2 + piece % 2) * SPREADING >> SLICE_SHIFT) % machine.slices)


@rarely
def update(sm: Sm, instruction: Row, line: int, noted: int, now: int) -> int:
    """Return when a slice has done a request's passes, after those that came before, of this SM and of others.

    `noted` has its lanes, their passes, and the sectors of these, as requests.py notes them.
    """
    if sm.machine.slices == 0 or noted == 0 or sm.machine.at_once:
        return now
    unit, slice_ = sm.load_store, slice_of(sm.machine, line)
    lanes, passes, sectors = noted >> OF_LANES, noted >> PASSES & FIELD, noted & FIELD
    behind = passes if unit.slice_line[slice_] == line + 1 else passes - 1  # another pass of the line
    parts = of_sectors(sm, instruction, lanes, passes, sectors)
    busy = max(parts, behind * min(int(sm.machine.pass_parts), int(instruction.pass_parts)))
    unit.slice_line[slice_] = line + 1
    sent = _sent(sm, instruction, passes + (sectors * int(instruction.packets) if lanes > passes else 0), now)
    taken = _of_all(sm, instruction, max(parts, behind * int(instruction.pass_parts)), busy)
    done = _taken(sm, slice_, taken, sent)
    _await(sm, lanes, max(done, int(unit.updates_sent // SHARE_PARTS)), now)
    return done


@rarely
def store(sm: Sm, instruction: Row, line: int, sectors: int, parted: bool, now: int) -> None:
    """Let a slice take so many sectors of a store, which left the SM `now`, if all send theirs there.

    `parted`: parts of sectors.
    """
    if sm.machine.slices and instruction.slice_share and sectors and not sm.machine.at_once:
        parts = (sectors + parted) * int(sm.machine.update_parts)
        done = _taken(sm, slice_of(sm.machine, line), _of_all(sm, instruction, parts, parts), now)
        _await(sm, int(sm.machine.line_bytes) // SECTOR_BYTES, done, now)
        held_stores.keep(sm, _few_wait(sm, now))


@rule
def _taken(sm: Sm, slice_: int, parts: int, now: int) -> int:
    """Return when a slice has done what takes it so many parts of a cycle, behind what came before."""
    unit = sm.load_store
    unit.slice[slice_] = max(unit.slice[slice_], now * SHARE_PARTS) + parts
    unit.updating[slice_] += parts
    return int((unit.slice[slice_] + SHARE_PARTS - 1) // SHARE_PARTS)


@rule
def _await(sm: Sm, lanes: int, done: int, now: int) -> None:
    """Count so many lanes, or stored sectors, that wait from now on until they are done."""
    unit = sm.load_store
    if unit.updated <= now:
        unit.updates, unit.updates_began = 0, now
    unit.updates += lanes
    unit.updated = max(unit.updated, done)


@rule
def of_sectors(sm: Sm, instruction: Row, lanes: int, passes: int, sectors: int) -> int:
    """Return the slice's time for the sectors of some passes: twice for two operands, or several doubles, at once."""
    twice = (instruction.packets == 2 and lanes > passes) or (instruction.doubles and lanes > sectors)
    return int(sectors * sm.machine.update_parts * (2 if twice else 1))


@rule
def _sent(sm: Sm, instruction: Row, packets: int, now: int) -> int:
    """Return when so many packets of an atomic begin to leave the SM, after those before if no result is waited for."""
    unit = sm.load_store
    if instruction.action != STORE:
        return now
    begin = max(unit.updates_sent, now * SHARE_PARTS)
    unit.updates_sent = begin + packets * int(sm.machine.packet_parts)
    return int(begin // SHARE_PARTS)


@rule
def room(sm: Sm, instruction: Row, now: int) -> int:
    """Return when the next atomic without a result, or store, may leave the SM.

    Stored lines wait in front of the L2 until few enough lanes and sectors wait there; a store waits for their place.
    """
    if instruction.packets:
        return _few_wait(sm, now)
    return max(now, held_stores.room(sm)) if instruction.slice_share and not sm.machine.at_once else now


@rarely
def _few_wait(sm: Sm, now: int) -> int:
    """Return when few enough lanes and sectors wait for slices.

    The slices are assumed to do them evenly, from the first that waits to the last.
    """
    unit, most = sm.load_store, sm.machine.updates_waiting
    if unit.updates <= most:
        return now
    return int(unit.updated - (unit.updated - unit.updates_began) * most // unit.updates)


@rule
def _of_all(sm: Sm, instruction: Row, parts: int, busy: int) -> int:
    """Return the time of a slice for the work of this SM and of those for which it stands.

    With lines of other blocks it is busy for part of its time alone.
    """
    blocks = max(1, int(sm.load_store.stands))
    if instruction.slice_share:
        return max(parts, parts * blocks * int(instruction.slice_share) // (ALONE * int(sm.launch.apart)))
    if instruction.slice_blocks:
        near = busy * min(blocks, int(instruction.slice_blocks))
        return max(parts, near, busy * blocks // int(sm.machine.slices))
    return parts * blocks
