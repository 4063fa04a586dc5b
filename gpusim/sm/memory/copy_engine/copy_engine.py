"""The copy engine of an SM: it takes its commands in order, and asks for one piece of a copy after the other.

A piece is what lies in one line of 128 bytes, or in a row of the box beyond the tensor. The engine asks for so many
sectors in a cycle; they take the way of loads, or of stores, to the L2 and beyond it, without the L1 (sm/memory/cache).
Pieces arrive in the order in which they were asked for, and what they bring lands then (landing.py). It is part of the
agent that effects are: the second in each cycle.

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
from gpusim.sm.memory.copy_engine import box, landing
from gpusim.sm.memory.copy_engine.commands import LOAD, NEARBY, PREFETCH, REDUCE, STORE
from gpusim.sm.records import Copy, Engine, Memory, Row, Sm
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
            sm.warps[g].pending += 1
            _set_next(sm)
            return


@rule
def _set_next(sm: Sm) -> None:
    """Say when the engine acts next."""
    engine, when = sm.engine, NEVER
    if engine.first_piece < engine.last_piece:
        when = sm.pieces[engine.first_piece % PIECES].arrives
    if engine.asking < engine.last and engine.last_piece - engine.first_piece < PIECES:
        starts = sm.copies[engine.asking % COPIES].starts
        if starts < NEVER:
            when = min(when, max(starts, sm.now + 1, -(-engine.free // SHARE_PARTS)))
    engine.next = when
    sm.agenda[sm.effects_agent] = min(sm.agenda[sm.effects_agent], when)


@on_demand
def act(sm: Sm, memory: Memory, now: int) -> None:
    """Let pieces arrive that are due, and ask for those for which there is time in this cycle."""
    engine = sm.engine
    while engine.first_piece < engine.last_piece and sm.fault.code == 0:
        piece = sm.pieces[engine.first_piece % PIECES]
        if piece.arrives > now:
            break
        engine.first_piece += 1
        copy = sm.copies[piece.of_copy % COPIES]
        if sm.tracing and copy.landed + piece.length == copy.total:
            record.copy(sm, piece.of_copy, now)
        landing.land(sm, memory, copy, piece.at, piece.length)
        if copy.landed == copy.total:
            _end(sm, copy)
    engine.free = max(engine.free, now * SHARE_PARTS)
    while engine.asking < engine.last and engine.free < (now + 1) * SHARE_PARTS and sm.fault.code == 0:
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
    engine = sm.engine
    piece = sm.pieces[engine.last_piece % PIECES]
    box.find(copy, copy.asked, engine)
    size = box.piece(copy, copy.asked, engine)
    piece.of_copy, piece.at, piece.length = engine.asking, copy.asked, size
    engine.last_piece += 1
    copy.asked += size
    low, high = _inside(engine, piece.at, size)
    arrives = now + (sm.machine.engine_nearby if copy.bulk == NEARBY else sm.machine.engine_latency)
    sectors = -(-size // SECTOR_BYTES)
    if copy.bulk != NEARBY and low < high:
        sectors = (high - 1) // SECTOR_BYTES - low // SECTOR_BYTES + 1
        arrives = _by_l2(sm, memory, copy, low, high, now)
    _count(sm, copy, low, high, size)
    engine.free += sectors * _parts(sm, copy)
    copy.over = -(-engine.free // SHARE_PARTS)
    engine.arrives = max(engine.arrives, arrives)
    piece.arrives = engine.arrives


@rule
def _inside(engine: Engine, at: int, size: int) -> tuple[int, int]:
    """Return the first place in global memory of a piece whose row was found, and the one behind its last."""
    return max(engine.low, engine.row + at), min(engine.high, engine.row + at + size)


@rule
def _count(sm: Sm, copy: Copy, low: int, high: int, size: int) -> None:
    """Count the bytes of a piece with those of its instruction."""
    sm.program[copy.pc].copied += high - low if copy.bulk != NEARBY and low < high else size


@rule
def _parts(sm: Sm, copy: Copy) -> int:
    """Return the time that a sector takes the engine, in 64ths of a cycle."""
    if copy.bulk == STORE:
        return int(sm.machine.engine_send)
    return int(sm.machine.engine_reduce if copy.bulk == REDUCE else sm.machine.engine_load)


@rule
def _by_l2(sm: Sm, memory: Memory, copy: Copy, low: int, high: int, now: int) -> int:
    """Ask the L2 for the bytes at those places, or send them there; return when they are where they belong."""
    slot = sm.warps[copy.warp].block
    if copy.bulk in (LOAD, PREFETCH):
        return int(far_side.fetch(sm, memory, slot, low, high, now))
    return int(far_side.send(sm, memory, slot, low, high, now) + sm.machine.engine_store)


@rarely
def _end(sm: Sm, copy: Copy) -> None:
    """A copy has come to its end: who waits for it may go on."""
    warp = sm.warps[copy.warp]
    copy.done = 1
    warp.pending -= 1
    warp.drained = max(warp.drained, sm.now)
    if copy.group >= 0:
        groups.done(warp, BULK, sm.now)
    sm.engine.woken |= 1 << copy.warp


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
        low, high = _inside(sm.engine, copy.asked, size)
        _count(sm, copy, low, high, size)
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
