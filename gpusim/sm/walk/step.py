"""One act of one agent: the page to read first. It composes the rules of the units; an engine only says when.

Agents are the block scheduler, effects, each warp scheduler and the load/store unit: they act so within a cycle.
`sm.agenda` holds the cycle at which each acts next; an act may bring another agent's forward.
"""

from __future__ import annotations

from gpusim.sm.account.record import record
from gpusim.sm.account.stall_accounting import stall_accounting
from gpusim.sm.effects import effects, groups
from gpusim.sm.front import warp_exit
from gpusim.sm.front.barrier import barrier
from gpusim.sm.front.block_scheduler import block_scheduler
from gpusim.sm.front.block_scheduler.declaration import DONE, FREE
from gpusim.sm.front.dispatch import dispatch
from gpusim.sm.front.fence import fence
from gpusim.sm.front.fetch import fetch
from gpusim.sm.front.policies import policies
from gpusim.sm.front.selection import selection
from gpusim.sm.front.wakeup import wakeup
from gpusim.sm.front.warp_scheduler import warp_scheduler
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import NEVER, borrow, entry, lowest_bit, rarely, rule
from gpusim.sm.lanes.convergence import independent_lanes
from gpusim.sm.lanes.convergence.declaration import GIVE_WAY, IF_PARTED
from gpusim.sm.lanes.simt_stack import simt_stack
from gpusim.sm.lanes.values import product, values
from gpusim.sm.memory.constant_operand import constant_operand
from gpusim.sm.memory.copy_engine import copy_engine
from gpusim.sm.pipes.double_precision import double_precision
from gpusim.sm.pipes.load_store import load_store
from gpusim.sm.pipes.pipe import execution
from gpusim.sm.pipes.warpgroup import warpgroup
from gpusim.sm.pipes.warpgroup.declaration import WARPS
from gpusim.sm.records import Memory, Records, Row, Scheduler, Sm, Warp
from gpusim.sm.registers import answers, questions
from gpusim.sm.registers.control_code import control_code
from gpusim.sm.registers.in_flight import in_flight
from gpusim.sm.registers.register_file import register_file
from gpusim.sm.registers.scoreboard import scoreboard
from gpusim.sm.registers.wait_count import wait_count
from gpusim.sm.registers.write_back import write_back
from gpusim.sm.replay.stream import stream
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.unit.opcodes import BARRIER, BRANCH, EXIT, MULTIPLY
from gpusim.sm.unit.sm import FIRST_SCHEDULER, LAUNCHER
from gpusim.sm.unit.stall import Stall
from gpusim.sm.walk.branch import branch
from isa.row import DRAINS, WAITS

ISSUE_INTERVAL = int(Stall.ISSUE_INTERVAL)
DRAIN, MIO, SELECTED = int(Stall.DRAIN), int(Stall.MIO_THROTTLE), int(Stall.SELECTED)


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


@entry
def first_scheduler(sm: Sm, now: int) -> int:
    """The scheduler that acts before the others in this cycle: they take turns, slot by slot, where they rotate.

    Of four, by the Gray code: so that neighbours, who share pipes, go first equally often in every second slot too.
    """
    machine = sm.machine
    if machine.rotate == 0:
        return 0
    slots = stall_accounting.slots(machine, now)
    if is_power_of_two(machine.schedulers):
        turn = slots & (machine.schedulers - 1)
        return int(turn ^ turn >> 1)
    return int(slots % machine.schedulers)


@rule
def is_power_of_two(count: int) -> bool:
    """Whether the count is a power of two."""
    return count & (count - 1) == 0


@rule
def ranked(position: int, first: int, schedulers: int) -> int:
    """The scheduler in this position, given the first: its neighbour, then the other pair; three in a row."""
    if is_power_of_two(schedulers):
        return position ^ first
    k = position + first
    return k if k < schedulers else k - schedulers


@entry
def rank(sm: Sm, position: int, first: int) -> int:
    """The agent that acts in this position of the order inside a cycle, given the first scheduler."""
    schedulers, behind = sm.machine.schedulers, position - 1  # the second, the effects, has the last number
    if FIRST_SCHEDULER <= behind < FIRST_SCHEDULER + schedulers:
        return FIRST_SCHEDULER + int(ranked(behind - FIRST_SCHEDULER, first, schedulers))
    return int(sm.effects_agent) if position == 1 else max(behind, 0)


@on_demand
def _land_more(sm: Sm, memory: Memory, now: int) -> None:
    """Let the copy engine act, and tell warps whose phases of barriers are over."""
    engine, asked = sm.engine, sm.answers <= now
    if engine.next <= now:
        copy_engine.act(sm, memory, now)
    sm.answers = NEVER if asked else sm.answers
    for g in range(sm.warp_slots if engine.woken or asked else 0):
        if (asked and sm.warps[g].awaits and answers.answer(sm, g)) or (engine.woken >> g) & 1:
            _wake(sm, g)
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
                _wake(sm, g)
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
    _wake(sm, load_store.serve(sm, memory, y, now))


@rule
def _wake(sm: Sm, g: int) -> None:
    """Let warp slot g compute when it can go on, if that was unknown."""
    if stall_accounting.latest(sm.warps[g]) >= NEVER:
        prepare(sm, sm.warps[g])
        warp_scheduler.wake(sm, g)


@rarely
def _wake_written(sm: Sm, k: int, scheduler: Scheduler) -> None:
    """Wake the warps of scheduler k that may have waited for a write."""
    while scheduler.written:
        j = lowest_bit(scheduler.written)
        scheduler.written &= scheduler.written - 1
        _wake(sm, j * sm.machine.schedulers + k)


@rule
def prepare(sm: Sm, warp: Warp) -> None:
    """Work out the release times of the warp's next instruction, as far as they are known."""
    instruction = sm.program[warp.pc]
    warp.unit = instruction.unit
    if sm.machine.obeys_codes:
        control_code.earliest(warp, instruction)
    else:
        scoreboard.earliest(warp, instruction)
    if sm.machine.counts:
        wait_count.earliest(warp, instruction)
    if sm.machine.barrier_defers:
        barrier.earliest(warp, instruction)
    if instruction.grouping & (WAITS | DRAINS):
        groups.earliest(warp, instruction)
    if sm.machine.register_banks:
        register_file.prepare(sm, warp, instruction)
    warp.release_at[DRAIN] = 0
    if instruction.action == EXIT or instruction.fence:
        warp.release_at[DRAIN] = warp_exit.earliest(sm, warp, instruction.action == EXIT)
        if sm.ahead.on and warp.pending > 0:
            questions.drain(sm, warp)


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


@rule
def take_slot(sm: Sm, memory: Memory, k: int, j: int, now: int) -> None:
    """Warp j of scheduler k uses the slot: it issues, or loses the slot to a full load/store queue."""
    scheduler, machine = sm.schedulers[k], sm.machine
    g = j * machine.schedulers + k
    warp = sm.warps[g]
    instruction = sm.program[warp.pc]
    stall_accounting.charge(scheduler, warp.unit, now)
    stall_accounting.settle_own(machine, k, scheduler, warp, instruction.stall)
    stall_accounting.settle_shared(machine, scheduler, warp, instruction.stall, now)
    warp_scheduler.unready(scheduler, j, warp.unit)
    scheduler.used_until = max(scheduler.used_until, now + machine.interval)
    warp.since = now
    if load_store.serves(instruction) and load_store.earliest(sm, k, instruction.unit, now) > now:
        refuse(sm, k, g, now)
        if machine.moves_pointer:
            scheduler.last = j
    else:
        scheduler.last = j
        instruction.stall[SELECTED] += machine.interval
        goes_on = True
        while goes_on:
            issue(sm, memory, k, g, now)
            goes_on = bool(machine.ports > 1 and machine.same_warp and dispatch.goes_on(sm, k, warp, now))
            if goes_on:
                warp.ready_at, warp.release_at[ISSUE_INTERVAL] = now, 0
    if warp.live:
        scheduler.waiting |= 1 << j
        warp_scheduler.wait(sm, k, j, warp, now)


@rarely
def refuse(sm: Sm, k: int, g: int, now: int) -> None:
    """The queue is full: the slot is lost, and the warp is looked at again later."""
    warp = sm.warps[g]
    if sm.tracing:
        record.issue(sm, record.REFUSE, k, g, now)
    sm.schedulers[k].lost[MIO] += sm.machine.interval
    warp.release_at[MIO] = now + sm.machine.retry


@rule
def issue(sm: Sm, memory: Memory, k: int, g: int, now: int) -> None:
    """Warp slot g's instruction goes: compute it, occupy what it needs, and prepare the warp's next."""
    warp, machine, scheduler = sm.warps[g], sm.machine, sm.schedulers[k]
    pc = warp.pc
    instruction = sm.program[pc]
    if machine.ports > 1:
        dispatch.commit(sm, k, instruction, now)
    warp_scheduler.commit(machine, scheduler, warp, instruction, now)
    if sm.trace_driven:
        stream.following(sm, memory, warp, instruction)
    elif not (_compute_aside(sm, memory, g, now) if sm.defers else values.execute(sm, memory, g)):
        return
    if sm.tracing:
        record.issue(sm, record.ISSUE, k, g, now)
    stall_accounting.renew(machine, warp, now)
    if machine.obeys_codes:
        control_code.commit(sm, k, warp, instruction, now)
    warp.pc = pc + 1
    instruction.active += sm.outcome.threads
    if sm.outcome.threads or instruction.idles:
        occupy(sm, instruction, k, g, pc, now)
    if sm.diverges and instruction.eventful:
        go_on(sm, k, g, instruction, pc, now)
    if warp.live:
        if machine.fetches:
            fetch.commit(sm, k, warp, now)
        if machine.constants:
            constant_operand.commit(sm, warp, now)
        prepare(sm, warp)


@rarely
def go_on(sm: Sm, k: int, g: int, instruction: Row, pc: int, now: int) -> None:
    """After an instruction that may diverge: find the warp's next path; the warp exits if there is none."""
    warp = sm.warps[g]
    if instruction.narrows >= IF_PARTED:
        instruction.active += independent_lanes.guarded(sm, g, instruction) - sm.outcome.threads
    if sm.trace_driven:
        warp.pc, warp.threads = sm.outcome.onward, sm.outcome.left
    elif not sm.independent:
        simt_stack.follow(sm, g, instruction, pc)
    elif instruction.steers:
        independent_lanes.follow(sm, g, instruction, pc)
    if instruction.steers == GIVE_WAY and sm.machine.obeys_codes and sm.outcome.threads:
        control_code.give_way(sm, k, warp, now)
    if sm.independent and sm.outcome.threads:
        branch.elsewhere(sm, warp, pc, now)
    if warp.threads == 0:
        warp_exit.commit(sm, g, pc, now)


@on_demand
def _compute_aside(sm: Sm, memory: Memory, g: int, now: int) -> bool:
    """Compute warp slot g's instruction from the values written by now; its results stay in flight. False: a fault."""
    pc, posted = sm.warps[g].pc, sm.posted
    in_flight.write_back(sm, g, now + int(sm.program[pc].reads_later))
    if not in_flight.enter(sm, g, pc):
        return False
    done = values.execute(sm, memory, g)
    in_flight.look(sm, g, pc)
    if done and sm.posted == posted:  # else it has posted what it does later
        in_flight.defer(sm, g, pc)
    return bool(done)


@rule
def occupy(sm: Sm, instruction: Row, k: int, g: int, pc: int, now: int) -> None:
    """Let an instruction take its operands, and then the unit that executes it; one without a thread may do so, too."""
    behind = register_file.commit(sm, k, sm.warps[g], instruction, now) if sm.machine.register_banks else 0
    if sm.machine.writes_back:
        write_back.commit(sm.schedulers[k], instruction, now)
    if instruction.double:
        double_precision.commit(sm, now)
    if instruction.grouping:
        groups.commit(sm.warps[g], instruction)
    if instruction.pipe >= 0:
        execution.commit(sm, k, g, instruction, now, behind)
    elif load_store.serves(instruction):
        load_store.commit(sm, k, g, pc, instruction, now)
    elif instruction.action == BARRIER:
        barrier.commit(sm, k, g, instruction, pc, now)
    elif instruction.action == BRANCH:
        branch.commit(sm, g, instruction, pc, now)
    elif instruction.action == EXIT and not sm.diverges:
        warp_exit.commit(sm, g, pc, now)
    elif instruction.action == MULTIPLY:
        warpgroup.commit(sm, g, pc, now)
    elif instruction.fence:
        fence.commit(sm, g, instruction, now)
