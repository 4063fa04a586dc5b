"""One turn of a warp: its instruction is computed, occupies what it needs, and the warp's next is prepared."""

from __future__ import annotations

from gpusim.sm.account.record import record
from gpusim.sm.account.stall_accounting import stall_accounting
from gpusim.sm.effects import groups
from gpusim.sm.front import warp_exit
from gpusim.sm.front.barrier import barrier
from gpusim.sm.front.dispatch import dispatch
from gpusim.sm.front.fence import fence
from gpusim.sm.front.fetch import fetch
from gpusim.sm.front.warp_scheduler import warp_scheduler
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.lanes import next_path, packed_lanes
from gpusim.sm.lanes.convergence import independent_lanes
from gpusim.sm.lanes.convergence.declaration import GIVE_WAY, IF_PARTED
from gpusim.sm.lanes.values import values
from gpusim.sm.memory.constant_operand import constant_operand
from gpusim.sm.pipes.double_precision import double_precision
from gpusim.sm.pipes.load_store import load_store
from gpusim.sm.pipes.pipe import execution
from gpusim.sm.pipes.warpgroup import warpgroup
from gpusim.sm.records import Memory, Row, Sm
from gpusim.sm.registers.control_code import control_code
from gpusim.sm.registers.in_flight import in_flight
from gpusim.sm.registers.register_file import register_file
from gpusim.sm.registers.write_back import write_back
from gpusim.sm.replay.stream import stream
from gpusim.sm.unit.opcodes import BARRIER, BRANCH, EXIT, MULTIPLY
from gpusim.sm.unit.stall import Stall
from gpusim.sm.walk.branch import branch
from gpusim.sm.walk.prepare import prepare

ISSUE_INTERVAL = int(Stall.ISSUE_INTERVAL)
MIO, SELECTED = int(Stall.MIO_THROTTLE), int(Stall.SELECTED)


@rule
def take_slot(sm: Sm, memory: Memory, k: int, j: int, now: int) -> None:
    """Warp j of scheduler k uses the slot: it issues, or loses the slot to a full load/store queue."""
    scheduler, machine = sm.schedulers[k], sm.machine
    g = j * machine.schedulers + k
    warp = sm.warps[g]
    instruction = sm.program[warp.pc]
    stall_accounting.charge(scheduler, warp.unit, now)
    stall_accounting.settle_own(machine, k, scheduler, warp, instruction.stall)
    if warp.ready_at < now:
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
    if sm.outcome.threads:
        occupy(sm, instruction, k, g, pc, now)
    elif instruction.idles:
        load_store.commit(sm, k, g, pc, instruction, now)
    if sm.diverges and instruction.eventful:
        go_on(sm, k, g, instruction, pc, now)
    if warp.live:
        if machine.packs and sm.diverges:
            _pass_over(sm, memory, g, now)
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
    else:
        next_path.follow(sm, g, instruction, pc)
    if instruction.steers == GIVE_WAY and sm.machine.obeys_codes and sm.outcome.threads:
        control_code.give_way(sm, k, warp, now)
    if sm.independent and sm.outcome.threads:
        branch.elsewhere(sm, warp, pc, now)
    if warp.threads == 0:
        warp_exit.commit(sm, g, pc, now)


@on_demand
def _pass_over(sm: Sm, memory: Memory, g: int, now: int) -> None:
    """Let warp slot g pass over what its leading lane does not do, up to an access to memory or a wait for one."""
    warp = sm.warps[g]
    while packed_lanes.passes(sm, warp):
        prepare(sm, warp)
        if packed_lanes.waits(warp, now):
            return
        pc, instruction = warp.pc, sm.program[warp.pc]
        if not values.execute(sm, memory, g):
            return
        taken = instruction.action == BRANCH and sm.outcome.threads
        warp.pc = instruction.target if taken else pc + 1
        if instruction.eventful:
            next_path.follow(sm, g, instruction, pc)


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
    """Let an instruction take its operands, and then the unit that executes it."""
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
