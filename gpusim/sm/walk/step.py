"""One act of one agent: the page to read first. It composes the rules of the units; an engine only says when.

`issue.py` has what a scheduler's turn does to a warp, `prepare.py` when the warp may go again, `turn_order.py` which
scheduler is first.

Agents are the block scheduler, effects, each warp scheduler and the load/store unit: they act so within a cycle.
`sm.agenda` holds the cycle at which each acts next; an act may bring another agent's forward.
"""

from __future__ import annotations

from gpusim.sm.account.record import record
from gpusim.sm.account.stall_accounting import stall_accounting
from gpusim.sm.effects import effects
from gpusim.sm.front.block_scheduler import block_scheduler
from gpusim.sm.front.block_scheduler.declaration import DONE, FREE
from gpusim.sm.front.dispatch import dispatch
from gpusim.sm.front.policies import policies
from gpusim.sm.front.selection import selection
from gpusim.sm.front.wakeup import wakeup
from gpusim.sm.front.warp_scheduler import warp_scheduler
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import NEVER, borrow, entry, lowest_bit, rarely, rule
from gpusim.sm.lanes.values import product, values
from gpusim.sm.memory.copy_engine import copy_engine
from gpusim.sm.pipes.load_store import load_store
from gpusim.sm.pipes.warpgroup import warpgroup
from gpusim.sm.pipes.warpgroup.declaration import WARPS
from gpusim.sm.records import Memory, Records, Scheduler, Sm
from gpusim.sm.registers import answers
from gpusim.sm.registers.write_back import write_back
from gpusim.sm.replay.stream import stream
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.unit.sm import FIRST_SCHEDULER, LAUNCHER
from gpusim.sm.walk.issue import take_slot
from gpusim.sm.walk.prepare import wake


@entry
def act_on(sms: Records[Sm], memory: Memory, agent: int, now: int) -> None:
    """Let an agent of the first SM act, called from Python; it leaves its next time in the agenda."""
    sm, words = sms[0], borrow(memory)
    sm.now = now
    if agent == LAUNCHER:
        launch(sm, words, now)
    elif agent == sm.effects_agent:
        land(sm, words, now)
    elif agent == sm.load_store_agent:
        while sm.agenda[agent] <= now:
            serve(sm, words, now)
    else:
        schedule(sm, words, agent - FIRST_SCHEDULER, now)


@on_demand
def _land_more(sm: Sm, memory: Memory, now: int) -> None:
    """Let the copy engine act, and tell warps whose phases of barriers are over."""
    engine, asked = sm.engine, sm.answers <= now
    if engine.next <= now:
        copy_engine.act(sm, memory, now)
    sm.answers = NEVER if asked else sm.answers
    for g in range(sm.warp_slots if engine.woken or asked else 0):
        if (asked and sm.warps[g].awaits and answers.answer(sm, g)) or (engine.woken >> g) & 1:
            wake(sm, g)
    engine.woken = 0
    sm.agenda[sm.effects_agent] = min(sm.agenda[sm.effects_agent], engine.next, sm.answers)


@on_demand
def launch(sm: Sm, memory: Memory, now: int) -> None:
    """Retire the blocks that have finished and place new ones where they fit."""
    for slot in range(sm.launch.resident):
        block = sm.blocks[slot]
        if block.state == DONE and block.finished <= now:
            block_scheduler.retire(sm, slot, now)
            sm.cluster_news = 1
            if sm.tracing:
                record.block(sm, record.RETIRE, slot, now)
        if block.state == FREE and block_scheduler.comes(sm, slot):
            block_scheduler.place(sm, slot, now)
            if sm.trace_driven:
                stream.begin(sm, memory, slot)
            else:
                clear_block(sm, memory, slot)
            if sm.tracing:
                record.block(sm, record.PLACE, slot, now)
    sm.agenda[LAUNCHER] = block_scheduler.next_act(sm)


@on_demand
def land(sm: Sm, memory: Memory, now: int) -> None:
    """Let the effects on memory land that are due, matrix instructions begin, and the copy engine act: one agent."""
    effects.land(sm, memory, now)
    if sm.multiplies:
        if sm.products.lands <= now:
            product.land(sm, memory, now)
        first = warpgroup.begin(sm, now)
        while first >= 0:
            for g in range(first, first + WARPS):
                wake(sm, g)
            first = warpgroup.begin(sm, now)
    if sm.signals or sm.bulk:
        _land_more(sm, memory, now)


@rule
def clear_block(sm: Sm, memory: Memory, slot: int) -> None:
    """A block starts with zero registers, false predicates and zero shared and local memory."""
    shared = sm.launch.shared_word + slot * sm.launch.shared_words
    memory[shared : shared + sm.launch.shared_words] = 0
    groups = sm.launch.warps * sm.machine.groups
    for group in range(slot * groups, (slot + 1) * groups):
        values.wipe(sm.lanes[group])
        local = sm.launch.local_word + group * sm.launch.local_words * LANES
        memory[local : local + sm.launch.local_words * LANES] = 0


@rule
def serve(sm: Sm, memory: Memory, now: int) -> None:
    """One head is served if there is room for its results; else the unit waits for that."""
    room = write_back.room_at(sm, now) if sm.machine.writes_back else now
    if room > now:
        sm.agenda[sm.load_store_agent] = room
    else:
        _serve(sm, memory, now)


@rule
def _serve(sm: Sm, memory: Memory, now: int) -> None:
    """Serve the head of a queue; its warp may now know when it can go on."""
    y = load_store.chosen(sm, now)
    wake(sm, load_store.serve(sm, memory, y, now))


@rarely
def _wake_written(sm: Sm, k: int, scheduler: Scheduler) -> None:
    """Wake the warps of scheduler k that may have waited for a write."""
    while scheduler.written:
        j = lowest_bit(scheduler.written)
        scheduler.written &= scheduler.written - 1
        wake(sm, j * sm.machine.schedulers + k)


@rule
def schedule(sm: Sm, memory: Memory, k: int, now: int) -> None:
    """One issue slot of scheduler k: see who is ready, pick one, issue it, and say when to look again."""
    machine, scheduler = sm.machine, sm.schedulers[k]
    page = wakeup.page_of(machine, k, now)
    if machine.writes_back:
        write_back.look(sm, k, now)
        if scheduler.written:
            _wake_written(sm, k, scheduler)
    warp_scheduler.promote(sm, k, page, now)
    eligible, again = warp_scheduler.eligible(sm, k, now)
    j = -1
    if eligible:
        j = policies.choose(machine.policy, sm, k, eligible, 0) if scheduler.selected < 0 else scheduler.selected
        if j >= 0 and machine.selection_may_wait:
            j = selection.commit(sm, k, j, now)
        if j < 0:
            again = max(now + machine.interval, scheduler.stalled_until)  # a policy may let nobody go
    if j < 0:
        stall_accounting.begin_idling(machine, scheduler, now)
        if machine.writes_back:
            again = min(again, write_back.again(scheduler, now))
        again = stall_accounting.slot_from(machine, k, again) if again < NEVER else NEVER
    else:
        while j >= 0:
            take_slot(sm, memory, k, j, now)
            others = machine.ports > 1 and not machine.same_warp
            j = dispatch.another(sm, k, now) if others else -1
        again = now + machine.interval if scheduler.ready else NEVER
        if machine.writes_back and write_back.again(scheduler, now) < again:
            again = stall_accounting.slot_from(machine, k, write_back.again(scheduler, now))
    sm.agenda[FIRST_SCHEDULER + k] = min(again, wakeup.next_due(machine, scheduler, page, now))
