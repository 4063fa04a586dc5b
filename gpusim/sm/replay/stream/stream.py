"""The trace-driven feed: the outcomes of a warp's instructions, recorded once without time and compressed.

If neither addresses nor branches depend on the contents of memory, timing cannot change them. A stream has an event for
each instruction of a warp whose outcome depends on values (a memory access, a fetch, a branch, a guard), in order of
execution; loop rounds that repeat the previous round are counted instead of stored. A script names the streams of a
block's warps. A block whose addresses are those of a recorded block, moved by whole lines of its buffers, takes that
block's script; any other block is recorded when it is placed.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.account.stopping import stop
from gpusim.sm.front.block_scheduler import block_scheduler
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.lanes import next_path
from gpusim.sm.lanes.convergence import convergence
from gpusim.sm.lanes.simt_stack import simt_stack
from gpusim.sm.lanes.values import values
from gpusim.sm.memory.cache import cache
from gpusim.sm.memory.memory_access import address_range, memory_access
from gpusim.sm.records import Event, Memory, Row, Script, Sm, Warp
from gpusim.sm.replay.stream import recorded_requests
from gpusim.sm.state.fault import Fault
from gpusim.sm.unit.capacities import DEPTHS, EVENTS, LOG, SCRIPTS, STREAMS, VISITS
from gpusim.sm.unit.opcodes import BRANCH, EXIT

MARKER, END = -1, -2  # special pcs: the end of a repeated part, and the end of the stream
UNRECORDED = -1
CANDIDATES = 8  # backward branches among the latest events at which a repetition may begin
FACTOR, MASK = 1_000_003, (1 << 40) - 1  # of hashes, here and in fast_forward: products stay below 2**63
LOOPED, PLACED = 1, 2  # events that fast-forward examines
NO_STREAM = int(Fault.UNRECORDED)


@on_demand
def begin(sm: Sm, memory: Memory, slot: int) -> None:
    """The block in this slot has been placed: its warps begin at the start of their streams."""
    block = sm.blocks[slot]
    block.script = script_of(sm, memory, slot, block.id)
    if block.script == UNRECORDED:
        stop(sm, NO_STREAM, block_scheduler.warp_slot(sm, slot, 0), 0)
        return
    sm.log[(sm.placed - 1) % LOG] = block.script
    if sm.forwarding:
        sm.event |= PLACED
    for index in range(sm.launch.warps):
        warp = sm.warps[block_scheduler.warp_slot(sm, slot, index)]
        warp.cursor = sm.scripts[block.script].first[index]
        warp.laps[:] = 0
    if recorded_requests.kept(sm):
        recorded_requests.begin(sm, slot)


@rule
def following(sm: Sm, memory: Memory, warp: Warp, instruction: Row) -> None:
    """Store the outcome of the warp's next instruction in `sm.outcome`, and move on to its next event."""
    outcome = sm.outcome
    outcome.threads, outcome.ready = warp.threads, 0
    if not instruction.eventful:
        return
    event = sm.events[warp.cursor]
    outcome.threads, outcome.cycles = event.threads, event.cycles
    outcome.extra, outcome.transactions, outcome.near = event.extra, event.transactions, 0
    outcome.onward, outcome.left = event.onward, event.left
    outcome.requests, outcome.place = event.requests, event.place
    if outcome.requests:
        recorded_requests.again(sm, memory, warp, instruction)
        if instruction.pipe >= 0:
            cache.read_scalar(sm, memory, instruction)
    warp.cursor += 1
    while sm.events[warp.cursor].pc == MARKER:
        _turn(warp, sm.events[warp.cursor])


@rule
def passed(sm: Sm, g: int, pc: int, target: int) -> None:
    """Warp slot g branches: a loop round of one chosen warp is an event for fast-forward."""
    if target <= pc:
        if sm.marker < 0 or not sm.warps[sm.marker].live:
            sm.marker = g
        if g == sm.marker:
            sm.event |= LOOPED


@rule
def _turn(warp: Warp, marker: Event) -> None:
    """At the end of a repeated part, go back to its start or continue after it."""
    depth = marker.depth
    if warp.laps[depth] < marker.rounds:
        warp.laps[depth] += 1
        warp.cursor -= marker.length
    else:
        warp.laps[depth] = 0
        warp.cursor += 1


@rule
def loop_around(sm: Sm, cursor: int, depth: int) -> int:
    """Return the marker of the loop of that depth around an event, or the end of its stream."""
    i = cursor
    while sm.events[i].pc != END:
        marker = sm.events[i]
        if marker.pc == MARKER and marker.depth == depth and i - marker.length <= cursor:
            return int(i)
        i += 1
    return int(i)


@rarely
def script_of(sm: Sm, memory: Memory, slot: int, block: int) -> int:
    """Return the script of a block of the grid, recorded with the slot's lanes if it is new; UNRECORDED on failure."""
    for known in range(sm.scripted):
        if _moved(sm, sm.scripts[known], block):
            return known
    if sm.scripted == SCRIPTS:
        return UNRECORDED
    script, home = sm.scripts[sm.scripted], sm.blocks[slot].id
    script.block, script.slot = block, slot
    script.low[:] = np.int64(1) << 40
    script.high[:] = 0
    sm.blocks[slot].id = block
    recorded = True
    for index in range(sm.launch.warps):
        if recorded:
            script.requests[index] = sm.requested
            script.first[index] = record(sm, memory, block_scheduler.warp_slot(sm, slot, index))
            recorded = script.first[index] >= 0
    sm.blocks[slot].id = home
    return _known_script(sm) if recorded else UNRECORDED


@rule
def _known_script(sm: Sm) -> int:
    """Return an older script with the same streams as the newest one; else keep the newest and return it.

    One with requests is kept in any case: other blocks' requests differ.
    """
    newest = sm.scripts[sm.scripted]
    for known in range(0 if recorded_requests.kept(sm) else sm.scripted):
        if _same_streams(sm, sm.scripts[known], newest):
            return known
    sm.scripted += 1
    return int(sm.scripted - 1)


@rule
def _same_streams(sm: Sm, script: Script, other: Script) -> bool:
    for index in range(sm.launch.warps):  # noqa: SIM110  (compiled)
        if script.first[index] != other.first[index]:
            return False
    return True


@rule
def _moved(sm: Sm, script: Script, block: int) -> bool:
    """Tell whether the block's accesses are the script's, moved by whole lines and inside the same buffers.

    If `provable` is set, shared-memory addresses, guards and branches don't depend on the block's place in the grid.
    """
    if not sm.provable:
        return script.block == block
    grid = sm.launch.grid
    x = block % grid[0] - script.block % grid[0]
    y = block // grid[0] % grid[1] - script.block // grid[0] % grid[1]
    z = block // (grid[0] * grid[1]) - script.block // (grid[0] * grid[1])
    for feed in range(sm.feeds):
        if script.low[feed] < script.high[feed]:
            step = sm.block_step[feed]
            if not _stands(sm, script, feed, recorded_requests.signed(step[0] * x + step[1] * y + step[2] * z)):
                return False
    return True


@rule
def _stands(sm: Sm, script: Script, feed: int, distance: int) -> bool:
    """Tell whether an access, a comparison, or a texture's coordinate has the same outcome after such a move."""
    low, high = script.low[feed] + distance, script.high[feed] + distance
    if feed >= sm.coordinate_feeds:
        inside = min(script.low[feed], low) >= 0 and max(script.high[feed], high) <= address_range.END
        return distance == 0 or inside
    if feed >= sm.memory_feeds:
        return low >= 0 and high <= 1 << 32
    if distance % sm.machine.line_bytes:
        return False
    for i in range(sm.launch.buffers):  # noqa: SIM110  (compiled)
        if sm.buffers[i].start <= low and high <= sm.buffers[i].end:
            return True
    return False


@rarely
def record(sm: Sm, memory: Memory, g: int) -> int:
    """Execute warp slot g in program order and keep the outcomes; return the first event's index, or UNRECORDED."""
    warp, first, home = sm.warps[g], sm.recorded, sm.warps[g].pc
    threads = warp.threads
    for group in range(g * sm.machine.groups, (g + 1) * sm.machine.groups):
        values.wipe(sm.lanes[group])
    warp.version[:] = 0
    _begin(sm, g)
    warp.pc = sm.program[0].visit
    running, kept = True, True
    while running and kept:
        instruction = sm.program[warp.pc]
        pc = warp.pc
        kept = values.execute(sm, memory, g) and sm.recorded + 4 < EVENTS and sm.visits < VISITS
        sm.visits += 1
        running = instruction.action != EXIT or sm.outcome.threads == 0
        onward = pc + 1
        if kept and instruction.action == BRANCH and sm.outcome.threads > 0:
            onward = instruction.target
        if kept and sm.diverges:
            warp.pc = onward
            next_path.follow(sm, g, instruction, pc)
            onward, running, kept = warp.pc, warp.threads > 0, sm.fault.code == 0
        sm.outcome.place = 0
        if kept and sm.outcome.requests:
            kept = recorded_requests.keep(sm, memory, instruction, sm.scripts[sm.scripted].requests[warp.index])
        if kept and instruction.eventful:
            _keep(sm, pc, instruction, onward, warp.threads)
            if (instruction.action == BRANCH or instruction.steers) and onward <= pc:
                _fold(sm, first)
        warp.pc = sm.program[onward].visit if running else pc
    _begin(sm, g)
    warp.pc, warp.threads = home, threads
    if not kept:
        sm.recorded = first
    return _finish(sm, first) if kept else UNRECORDED


@rule
def _begin(sm: Sm, g: int) -> None:
    simt_stack.begin(sm, g)
    if sm.independent:
        convergence.begin(sm, g)


@rule
def _keep(sm: Sm, pc: int, instruction: Row, onward: int, left: int) -> None:
    """Append the instruction's outcome."""
    event, outcome = sm.events[sm.recorded], sm.outcome
    sm.recorded += 1
    event.pc, event.threads = pc, outcome.threads
    event.cycles, event.extra, event.transactions, event.requests = 0, 0, outcome.transactions, outcome.requests
    event.onward, event.left = onward, left
    event.passed, event.place = sm.visits, outcome.place
    event.rounds = event.length = event.depth = 0
    if outcome.threads > 0 and (memory_access.accesses(instruction) or instruction.distinct):
        event.cycles, event.extra = outcome.cycles, outcome.extra


@rule
def _fold(sm: Sm, first: int) -> None:
    """If the events up to this backward branch repeat the part before them, drop them and count one more round."""
    end, tried = sm.recorded, 0
    pc = sm.events[end - 1].pc
    at = end - 2
    while at >= first and tried < CANDIDATES:
        item, length = sm.events[at], end - 1 - at
        if item.pc == MARKER and item.length == length and _repeats(sm, at, at + 1, length):
            item.rounds += 1
            sm.recorded = at + 1
            return
        if item.pc == pc:
            tried += 1
            depth = _depth(sm, at + 1, end)
            if at + 1 - length >= first and depth < DEPTHS and _repeats(sm, at + 1, at + 1, length):
                _mark(sm, at + 1, length, depth)
                return
        at -= 1


@rule
def _mark(sm: Sm, at: int, length: int, depth: int) -> None:
    """Put a marker of one more round after a part of that length."""
    marker = sm.events[at]
    marker.pc, marker.rounds, marker.length, marker.depth = MARKER, 1, length, depth
    marker.threads = marker.cycles = marker.extra = marker.transactions = marker.requests = 0
    marker.onward = marker.left = marker.place = 0
    sm.recorded = at + 1


@rule
def _repeats(sm: Sm, end: int, start: int, length: int) -> bool:
    """Tell whether `length` items from `start` on equal those that end before `end`."""
    for i in range(length):  # noqa: SIM110  (compiled)
        if not _equal(sm.events[end - length + i], sm.events[start + i]):
            return False
    return True


@rule
def _equal(a: Event, b: Event) -> bool:
    same = a.pc == b.pc and a.threads == b.threads and a.cycles == b.cycles and a.extra == b.extra
    return (
        same
        and a.transactions == b.transactions
        and a.requests == b.requests
        and a.place == b.place
        and a.onward == b.onward
        and a.left == b.left
        and a.rounds == b.rounds
        and a.length == b.length
        and a.depth == b.depth
    )


@rule
def _depth(sm: Sm, start: int, end: int) -> int:
    """Return a part's loop depth: one more than its deepest marker, or DEPTHS if a marked part begins before it."""
    depth = 0
    for i in range(start, end):
        if sm.events[i].pc == MARKER:
            inside = i - sm.events[i].length >= start
            depth = max(depth, sm.events[i].depth + 1 if inside else DEPTHS)
    return depth


@rule
def _finish(sm: Sm, first: int) -> int:
    """Close the newest stream; return its first event, or that of an equal older one, and then drop the new one."""
    end = sm.events[sm.recorded]
    end.pc = END
    sm.recorded += 1
    length, digest = sm.recorded - first, _digest(sm, first)
    for i in range(sm.streamed):
        known = sm.streams[i]
        alike = known.length == length and known.digest == digest
        if alike and _repeats(sm, known.first + length - 1, first, length - 1):
            sm.recorded = first
            return int(known.first)
    if sm.streamed < STREAMS:
        new = sm.streams[sm.streamed]
        new.first, new.length, new.digest = first, length, digest
        sm.streamed += 1
    return int(first)


@rule
def _digest(sm: Sm, first: int) -> int:
    """Return a hash of the items from `first` to the last."""
    digest = 0
    for i in range(first, sm.recorded):
        item = sm.events[i]
        for word in (
            item.pc,
            item.threads,
            item.cycles,
            item.extra,
            item.transactions,
            item.requests,
            item.place,
            item.onward,
            item.left,
            item.rounds,
            item.length,
        ):
            digest = (digest * FACTOR + int(word)) & MASK
    return int(digest)
