"""The copy engine of an SM: it takes its commands in order, and asks for one piece of a copy after the other.

A piece is what lies in one line of 128 bytes, or in a row of the box beyond the tensor. Each keeps the engine for whole
cycles; it takes the way of loads, or of stores, to the L2 and beyond it, without the L1 (sm/memory/cache). What loads
bring comes as the L2 answers, near slices first, through a way that takes its time for each sector; it lands then
(landing.py). Stores are done in order. The engine is part of the agent that effects are: the second in each cycle.

In program order, where nothing has a time, a copy lands when a warp looks at its barrier in vain, or waits for its
group, or when its warp exits: as late as the program allows.
"""

from __future__ import annotations

from gpusim.sm.account.record import record
from gpusim.sm.effects import groups
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.memory.cache import far_side
from gpusim.sm.memory.cache.declaration import SHARE_PARTS
from gpusim.sm.memory.copy_engine import box, landing, tensor_map
from gpusim.sm.memory.copy_engine.commands import LOAD, NEARBY, PREFETCH, REDUCE, STORE
from gpusim.sm.records import Copy, Memory, Piece, Row, Sm
from gpusim.sm.unit.capacities import COPIES, PIECES
from isa.memory import SECTOR_BYTES
from isa.row import WAITS, Groups

BULK = int(Groups.BULK)


@on_demand
def serve(sm: Sm, g: int, number: int, now: int) -> None:
    """The command of warp slot g with that access number is served now: its copy may start."""
    engine = sm.engine
    for i in range(engine.first, engine.last):
        copy = sm.copies[i % COPIES]
        if copy.warp == g and copy.number == number:
            copy.starts = now + sm.machine.engine_start
            if copy.map >= 0:
                copy.starts = max(copy.starts, tensor_map.at_hand(sm, int(copy.map), now))
            if copy.bulk == LOAD:
                sm.warps[g].loaded = 1
            sm.warps[g].copying += 1
            _set_next(sm)
            return


@rule
def _set_next(sm: Sm) -> None:
    """Say when the engine acts next."""
    engine, when = sm.engine, NEVER
    if engine.first_piece < engine.last_piece:
        when = _lands(sm, sm.pieces[engine.first_piece % PIECES])
    if engine.asking < engine.last and engine.last_piece - engine.first_piece < PIECES:
        starts = sm.copies[engine.asking % COPIES].starts
        if starts < NEVER:
            when = min(when, max(starts, sm.now + 1, engine.free))
    engine.next = when
    sm.agenda[sm.effects_agent] = min(sm.agenda[sm.effects_agent], when)


@rule
def _lands(sm: Sm, piece: Piece) -> int:
    """Return when the piece that arrives next lands: what is loaded, when the way from the L2 has time for it."""
    loads = sm.copies[piece.of_copy % COPIES].bulk == LOAD
    return int(max(piece.arrives, sm.engine.port // SHARE_PARTS) if loads else piece.arrives)


@on_demand
def act(sm: Sm, memory: Memory, now: int) -> None:
    """Let pieces land that are due, and ask for those for which there is time in this cycle."""
    engine = sm.engine
    while engine.first_piece < engine.last_piece and sm.fault.code == 0:
        piece = sm.pieces[engine.first_piece % PIECES]
        if _lands(sm, piece) > now:
            break
        engine.first_piece += 1
        copy = sm.copies[piece.of_copy % COPIES]
        if sm.tracing and copy.landed + piece.length == copy.total:
            record.copy(sm, piece.of_copy, now)
        if copy.bulk == LOAD:
            engine.port = max(engine.port, now * SHARE_PARTS) + sectors(piece.length) * sm.machine.engine_load
        landing.land(sm, memory, copy, piece.at, piece.length)
        if copy.landed == copy.total:
            _end(sm, copy)
    while engine.asking < engine.last and engine.free <= now and sm.fault.code == 0:
        copy = sm.copies[engine.asking % COPIES]
        if copy.starts > now or engine.last_piece - engine.first_piece >= PIECES:
            break
        copy.begins = copy.begins if copy.asked else now
        if copy.total:
            _ask(sm, memory, copy, now)
        else:
            _end(sm, copy)
        if copy.asked == copy.total:
            engine.asking += 1
    while engine.first < engine.asking and sm.copies[engine.first % COPIES].done:
        engine.first += 1
    _set_next(sm)


@rarely
def _ask(sm: Sm, memory: Memory, copy: Copy, now: int) -> None:
    """Ask for the next piece of a copy."""
    engine, at = sm.engine, int(copy.asked)
    box.find(copy, at, engine)
    size = box.piece(copy, at, engine)
    copy.asked += size
    low, high = max(engine.low, engine.row + at), min(engine.high, engine.row + at + size)
    arrives = now + (sm.machine.engine_nearby if copy.bulk == NEARBY else sm.machine.engine_latency)
    if copy.bulk != NEARBY and low < high:
        arrives = _by_l2(sm, memory, copy, low, high, now)
    engine.free = copy.over = now + _cycles(sm, copy, low, high, size)
    _count(sm, copy, size)
    if copy.bulk not in (LOAD, PREFETCH):
        engine.arrives = arrives = max(engine.arrives, arrives)
    _put(sm, engine.asking, at, size, arrives)


@rule
def _put(sm: Sm, number: int, at: int, size: int, arrives: int) -> None:
    """Put a piece of a copy on its way, before those that arrive later."""
    engine, place = sm.engine, sm.engine.last_piece
    while place > engine.first_piece and sm.pieces[(place - 1) % PIECES].arrives > arrives:
        to, of = sm.pieces[place % PIECES], sm.pieces[(place - 1) % PIECES]
        to.of_copy, to.at, to.length, to.arrives = of.of_copy, of.at, of.length, of.arrives
        place -= 1
    piece = sm.pieces[place % PIECES]
    piece.of_copy, piece.at, piece.length, piece.arrives = number, at, size, arrives
    engine.last_piece += 1


@rule
def _count(sm: Sm, copy: Copy, size: int) -> None:
    """Count a piece, and its bytes, with those of its instruction."""
    sm.program[copy.pc].pieces += 1
    sm.program[copy.pc].copied += size


@rule
def sectors(size: int) -> int:
    """Return the sectors that so many bytes are."""
    return -(-size // SECTOR_BYTES)


@rule
def _cycles(sm: Sm, copy: Copy, low: int, high: int, size: int) -> int:
    """Return the cycles for which a piece keeps the engine, of which the tensor has the bytes from `low` to `high`.

    Updates take their time by bytes, stores by sectors; a store to a part of a sector takes longer.
    """
    if copy.bulk == REDUCE:
        parts = -(-size * sm.machine.engine_reduce // SECTOR_BYTES)
    elif copy.bulk == STORE:
        partly = low < high and (low % SECTOR_BYTES > 0 or high % SECTOR_BYTES > 0)
        parts = sectors(size) * sm.machine.engine_send + (sm.machine.store_line_cost if partly else 0)
    else:
        return int(sm.machine.engine_ask)
    return int(-(-parts // SHARE_PARTS))


@rule
def _by_l2(sm: Sm, memory: Memory, copy: Copy, low: int, high: int, now: int) -> int:
    """Ask the L2 for the bytes at those places, or send them there; return when they are where they belong."""
    slot, instruction = sm.warps[copy.warp].block, sm.program[copy.pc]
    if copy.bulk in (LOAD, PREFETCH):
        return int(far_side.fetch(sm, memory, instruction, slot, low, high, now))
    return int(far_side.send(sm, memory, instruction, slot, low, high, now) + sm.machine.engine_store)


@rarely
def _end(sm: Sm, copy: Copy) -> None:
    """A copy has come to its end: who waits for it may go on."""
    warp = sm.warps[copy.warp]
    copy.done = 1
    warp.copying -= 1
    warp.drained = max(warp.drained, sm.now)
    if copy.group >= 0:
        groups.done(warp, BULK, sm.now)
    sm.engine.woken |= 1 << copy.warp


@on_demand
def make_room(sm: Sm, memory: Memory) -> None:
    """Without time, land the oldest copy early if no more can be asked for."""
    engine = sm.engine
    if engine.last - engine.first >= COPIES:
        _land_whole(sm, memory, sm.copies[engine.first % COPIES])
        _forget(sm)


@on_demand
def for_barrier(sm: Sm, memory: Memory, place: int) -> None:
    """Without time, land the copies that signal the barrier at `place`, one after the other, until its phase ends."""
    for i in range(sm.engine.first, sm.engine.last):
        copy = sm.copies[i % COPIES]
        if copy.done == 0 and (copy.barrier == place or (copy.blocks and _for_several(sm, copy, place))):
            _land_whole(sm, memory, copy)
    _forget(sm)


@rule
def _for_several(sm: Sm, copy: Copy, place: int) -> bool:
    """Tell whether a copy for several blocks of the cluster signals the barrier at `place`."""
    for rank in range(sm.launch.cluster):
        if copy.blocks >> rank & 1 and copy.barrier + (rank - sm.launch.rank) * sm.launch.peer == place:
            return True
    return False


@on_demand
def in_program_order(sm: Sm, memory: Memory, g: int, pc: int) -> None:
    """Without time, land what the instruction of warp slot g at `pc` waits for: all of a warp that exits."""
    warp, instruction = sm.warps[g], sm.program[pc]
    for i in range(sm.engine.first, sm.engine.last):
        copy = sm.copies[i % COPIES]
        covered = instruction.grouping & WAITS and _covers(sm, instruction, copy)
        if copy.warp == g and copy.done == 0 and (warp.live == 0 or covered):
            _land_whole(sm, memory, copy)
    _forget(sm)


@rule
def _covers(sm: Sm, instruction: Row, copy: Copy) -> bool:
    """Tell whether a wait for groups is one for a copy."""
    same = groups.counted_with(BULK) == groups.counted_with(instruction.groups)
    return bool(same and 0 <= copy.group < sm.warps[copy.warp].closed[BULK] - instruction.open_groups)


@rarely
def _land_whole(sm: Sm, memory: Memory, copy: Copy) -> None:
    """Let all pieces of a copy arrive."""
    while copy.asked < copy.total and sm.fault.code == 0:
        box.find(copy, copy.asked, sm.engine)
        size = box.piece(copy, copy.asked, sm.engine)
        _count(sm, copy, size)
        landing.land(sm, memory, copy, copy.asked, size)
        copy.asked += size
    copy.done = 1


@rule
def _forget(sm: Sm) -> None:
    """Drop copies that are done."""
    engine = sm.engine
    while engine.first < engine.last and sm.copies[engine.first % COPIES].done:
        engine.first += 1
    engine.asking = engine.first
