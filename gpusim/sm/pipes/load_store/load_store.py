"""Load/store unit: queues in issue order, served one instruction at a time for as many cycles as its passes take.

The SM has one queue. If the machine has memory ports, each scheduler has a queue and a port: the unit takes turns
between the queue heads, and the port delays the scheduler's next instruction for its own interval. On GCN shared memory
is separate: it has its own unit, and a queue and port for each pair of schedulers.

The unit is an agent: it acts when it is free and an instruction waits. Only then does it know the latency of a load and
the release of the source registers, and wake the warps that wait for them.

Where control codes are obeyed, a warp's loads from shared memory come back in order; compilers rely on a later load's
barrier to cover earlier ones.
"""

from __future__ import annotations

from gpusim.sm.account.record import record
from gpusim.sm.account.record.declaration import UNKNOWN
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.memory import queues
from gpusim.sm.memory.account import account
from gpusim.sm.memory.async_copy import copy_path
from gpusim.sm.memory.cache import cache
from gpusim.sm.memory.copy_engine import copy_engine
from gpusim.sm.memory.global_memory import global_memory
from gpusim.sm.memory.l2_channel import l2_channel
from gpusim.sm.memory.l2_share import l2_share
from gpusim.sm.memory.lookahead import late_lines
from gpusim.sm.memory.memory_access import access_cost, memory_access
from gpusim.sm.pipes.instruction_replay import instruction_replay
from gpusim.sm.pipes.load_store import returns
from gpusim.sm.records import Entry, Memory, Question, Queue, Row, Sm
from gpusim.sm.registers import answers, completion, questions
from gpusim.sm.registers.control_code import control_code
from gpusim.sm.registers.in_flight import in_flight
from gpusim.sm.registers.scoreboard import scoreboard
from gpusim.sm.registers.wait_count import wait_count
from gpusim.sm.registers.write_back import write_back
from gpusim.sm.unit.opcodes import GLOBAL_MEMORY, SIGNAL, STORE
from gpusim.sm.unit.stall import Stall

LONG = int(Stall.LONG_SCOREBOARD)


@rule
def serves(instruction: Row) -> bool:
    """Tell whether the instruction goes through this unit."""
    return bool(instruction.queued)


@rule
def _queue(sm: Sm, k: int, unit: int) -> Queue:
    """Return the queue that scheduler k's instructions of a unit class enter."""
    return sm.load_store.queues[queues.number(sm, k, unit)]


@rule
def earliest(sm: Sm, k: int, unit: int, now: int) -> int:
    """Return `now` if scheduler k's queue takes an instruction, else the cycle until which it takes none.

    That is after the next service, perhaps of another queue. With `held` an instruction that the load/store unit served
    keeps its place for some cycles; one that the constant unit served leaves at once.
    """
    queue, served = _queue(sm, k, unit), max(now, sm.agenda[sm.load_store_agent]) + 1
    if queue.count == sm.machine.queue:
        return served
    left = max(now, queue.left[queues.wrapped(sm, queue.kept + queue.count)])
    return min(left, served) if sm.machine.paths > 1 and queue.count > 0 else left


@rule
def commit(sm: Sm, k: int, g: int, pc: int, instruction: Row, now: int) -> None:
    """Put the instruction of scheduler k's warp slot g into the queue, with the outcome of its addresses."""
    unit, queue, warp = sm.load_store, _queue(sm, k, instruction.unit), sm.warps[g]
    entry = queue.entries[queues.behind(sm, queues.number(sm, k, instruction.unit))]
    unit.entered += 1
    entry.number, entry.warp, entry.pc = unit.entered, g, pc
    entry.cycles, entry.extra, entry.transactions, entry.requests = instruction.service, 0, 0, 0
    entry.near, entry.idle = 0, sm.outcome.threads == 0
    _cost(sm, k, g, instruction, entry)
    queue.count += 1
    warp.pending += 1
    if instruction.counter >= 0:
        wait_count.commit(warp, instruction, unit.entered)
    if sm.machine.obeys_codes == 0:
        if instruction.tracked:
            scoreboard.commit(warp, instruction, NEVER)
        scoreboard.hold(warp, instruction, unit.entered)
    else:
        control_code.hold(warp, instruction)
        if sm.machine.full_yields and earliest(sm, k, instruction.unit, now) > now:
            control_code.give_way(sm, k, warp, now)
    if queue.count == 1:
        when = _next_of(sm, queues.number(sm, k, instruction.unit), now)
        sm.agenda[sm.load_store_agent] = min(sm.agenda[sm.load_store_agent], when)


@rule
def _cost(sm: Sm, k: int, g: int, instruction: Row, entry: Entry) -> None:
    """Note what the instruction takes of its unit, where its lanes, addresses or values say that."""
    outcome = sm.outcome
    if entry.idle:
        entry.cycles, entry.extra = instruction.idles, sm.machine.skipped_latency - instruction.latency
        for c in range(sm.machine.channels if sm.machine.channels > 1 else 0):
            entry.moves[c] = 0
    elif memory_access.accesses(instruction):
        entry.cycles = max(instruction.service, access_cost.service(sm.machine, instruction, outcome.cycles))
        entry.extra, entry.transactions = outcome.extra, outcome.transactions
        entry.requests, entry.near = outcome.requests, outcome.near
        if entry.requests == 0:
            account.alone(sm, instruction, outcome, instruction_replay.beyond(sm.machine, instruction, outcome.cycles))
        for c in range(sm.machine.channels if sm.machine.channels > 1 else 0):
            entry.moves[c] = outcome.moves[c]
        if sm.machine.replays:
            instruction_replay.commit(sm, k, g, instruction, outcome.cycles)
    elif instruction.distinct:
        entry.cycles, entry.extra = outcome.cycles, outcome.extra


@rule
def chosen(sm: Sm, now: int) -> int:
    """Return the queue whose head is served now; behind them all are loads whose lines have come."""
    return 0 if sm.machine.queues == 1 and sm.load_store.returns == 0 else _in_turn(sm, now)


@rarely
def _in_turn(sm: Sm, now: int) -> int:
    """Return the first queue, in turn, that has an instruction and whose port and unit are free."""
    y = next_in_turn(sm, now)
    sm.load_store.turn = y + 1 if y < sm.machine.queues else 0
    return y


@rule
def next_in_turn(sm: Sm, now: int) -> int:
    """Return the same, and leave the turn to it."""
    y = sm.load_store.turn
    while _next_of(sm, y, now) > now:
        y = y + 1 if y < sm.machine.queues else 0
    return int(y)


@rule
def _next_of(sm: Sm, y: int, now: int) -> int:
    """Return when the next of a queue can be served, or of the loads whose lines have come; NEVER: there is none."""
    if y == sm.machine.queues:
        return max(now, returns.first(sm))
    queue = sm.load_store.queues[y]
    if queue.count == 0:
        return NEVER
    read = _read_by_products(sm, y) if sm.multiplies else 0
    return int(max(now, queue.free, sm.load_store.free[queues.path(sm, y)], read))


@on_demand
def _read_by_products(sm: Sm, y: int) -> int:
    """Return until when products keep the head of queue y from shared memory; barriers and copies' commands need none.

    These only pass addresses. What constants' unit serves needs none either.
    """
    queue = sm.load_store.queues[y]
    instruction = sm.program[queue.entries[queue.head].pc]
    return int(sm.products.port) if instruction.action < SIGNAL and instruction.path == 0 else 0


@rule
def _leave(sm: Sm, queue: Queue, instruction: Row, now: int) -> None:
    """Take the head out of its queue, where it may keep its place for some cycles."""
    queue.count -= 1
    if sm.machine.held and instruction.path == 0:
        queue.left[queue.kept] = now + sm.machine.held
        queue.kept = queues.wrapped(sm, queue.kept + 1)
    queue.head = queues.wrapped(sm, queue.head + 1) if queue.count > 0 else 0


@rule
def _from_caches(sm: Sm, memory: Memory, y: int, place: int, now: int) -> int:
    """Look up the access at that place of queue y; return when its result is there, or when it has left the SM."""
    entry = sm.load_store.queues[y].entries[place]
    l2_share.begin(sm, sm.warps[entry.warp].block)
    late_lines.begin(sm)
    ready = cache.serve(sm, memory, y, place, now)
    sm.load_store.stands = 0
    return max(int(ready), int(now + entry.near))


@rule
def serve(sm: Sm, memory: Memory, y: int, now: int) -> int:
    """Serve the head of queue y, or behind them all a load whose lines have come; return its warp slot."""
    g = returns.serve(sm, now) if y == sm.machine.queues else _serve_head(sm, memory, y, now)
    sm.agenda[sm.load_store_agent] = next_service(sm, now)
    return int(g)


@rule
def _serve_head(sm: Sm, memory: Memory, y: int, now: int) -> int:
    unit, queue = sm.load_store, sm.load_store.queues[y]
    place = queue.head
    entry = queue.entries[queue.head]
    instruction, warp = sm.program[entry.pc], sm.warps[entry.warp]
    if sm.defers:
        in_flight.read_again(sm, memory, entry.warp, entry.number, now)
    _leave(sm, queue, instruction, now)
    own = int(instruction.path)
    begun = copy_path.enter(sm, instruction, now) if instruction.copies else now
    taken = copy_path.kept(sm.machine, instruction, int(entry.cycles)) if instruction.copies else entry.cycles
    passes = copy_path.follow(sm, instruction, entry, int(taken), begun) if unit.brought and own == 0 else begun
    unit.free[own] = begun + taken
    queue.free = now + _of_port(instruction, entry, own)
    unit.busy += entry.cycles
    instruction.passes += entry.cycles
    if entry.requests:
        ready = _from_caches(sm, memory, y, place, passes)
        if returns.waits(sm, instruction):
            taken = min(taken, sm.machine.late_asks)
            unit.free[own] = begun + taken
            queue.free = now + max(instruction.port, taken * instruction.port_cycles)
            ready = returns.wait(sm, entry, instruction, ready) if ready < late_lines.TICKET else ready
        unit.free[own] += unit.waited
        if instruction.action == STORE:
            warp.stored = max(warp.stored, ready)
            ready = unit.free[own] if l2_channel.keeps_stores(sm) else max(unit.free[own], ready)
        elif instruction.reason == LONG:
            warp.loaded = 1
    else:
        ready = result_at(sm, instruction, entry, passes)
    if instruction.copies:
        ready = max(ready, copy_path.take(sm, queue, instruction, entry, begun))
    if sm.machine.obeys_codes and memory_access.loads_shared(instruction):
        ready = warp.shared_back = max(ready, warp.shared_back)
    instruction.held += unit.free[own] - begun
    if instruction.action >= SIGNAL:
        ready = _of_barrier_or_engine(sm, entry, ready, now)
    read = begun + max(1, instruction.war)
    completion.read(sm, entry.warp, entry.pc, entry.number, read)
    _finish(sm, y, place, ready, read, now)
    return int(entry.warp)


@rule
def _of_port(instruction: Row, entry: Entry, own: int) -> int:
    """Return the cycles for which the instruction keeps its scheduler's port."""
    if entry.idle:
        return 0 if own else int(entry.cycles)
    return int(max(instruction.port, entry.cycles * instruction.port_cycles))


@rule
def _finish(sm: Sm, y: int, place: int, ready: int, read: int, now: int) -> None:
    """Tell who waits for what is served now when its result is there, if that is known."""
    entry = sm.load_store.queues[y].entries[place]
    instruction = sm.program[entry.pc]
    late = ready >= late_lines.TICKET
    waits = late and returns.waits(sm, instruction)
    writes = sm.machine.writes_back and (ready < NEVER or (late and not waits)) and not entry.idle
    results = write_back.expect(sm, instruction, entry, now) if writes else 0
    if sm.ahead.on and (entry.transactions or late):
        soonest = max(sm.ahead.least, sm.ahead.known, now + entry.near) if late else ready
        questions.ask(sm, entry.warp, entry.pc, entry, results, soonest, now)
        question = questions.numbered(sm, sm.ahead.asked - 1)
        question.number = entry.number
        if late:
            late_lines.describe(sm, question, now + entry.near, waits, instruction)
        return
    back = UNKNOWN
    if results:
        write_back.come_back(sm, instruction, entry, ready, now)
    elif ready < NEVER:
        back = completion.commit(sm, entry.warp, entry.pc, entry.number, ready)
    if sm.tracing:
        done = UNKNOWN if results or ready == NEVER else ready if instruction.tracked else back
        record.service(sm, y, place, sm.load_store.free[instruction.path], read, done, back, now)


@rarely
def _of_barrier_or_engine(sm: Sm, entry: Entry, ready: int, now: int) -> int:
    """Return when what is done to a barrier in shared memory is done, NEVER if that is not known; start a copy."""
    if sm.program[entry.pc].action == SIGNAL:
        return int(answers.serve(sm, entry.warp, entry.pc, entry.number, ready))
    copy_engine.serve(sm, entry.warp, entry.number, now)
    return ready


@rule
def next_service(sm: Sm, now: int) -> int:
    """Return when the next head is served, after a service at `now`; NEVER if nothing waits.

    A head that has just come to a queue and a unit that were free before is served now, not before it came.
    """
    unit, when = sm.load_store, NEVER
    for y in range(sm.machine.queues + (unit.returns > 0)):
        when = min(when, _next_of(sm, y, now))
    return when


@rule
def result_at(sm: Sm, instruction: Row, entry: Entry, now: int) -> int:
    """Return when a load's result is there, or when a store has left the SM."""
    moves = instruction.action == STORE or instruction.memory_kind == GLOBAL_MEMORY
    cost = global_memory.each_cost(sm.machine, instruction)
    gone = global_memory.commit_each(sm, entry, cost, now) if moves else now
    return done_at(instruction, entry, gone, now)


@rule
def done_at(instruction: Row, access: Entry | Question, gone: int, now: int) -> int:
    """Return the same for an access served at `now`, whose last transaction has left the channel at `gone`."""
    if instruction.action == STORE:
        return max(now + access.cycles, gone)
    return max(gone + instruction.latency + access.extra, now + access.near)
