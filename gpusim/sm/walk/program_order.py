"""Program order: a block by itself, without time.

The warps with the smallest pc, of those that can run, execute one instruction each, in their order; then come those
with the smallest pc by then. So atomics of a block have one order.
The block has the SM's first slot. Values, lanes and barriers are those of the rules; no unit is asked when.
"""

from __future__ import annotations

from gpusim.sm.effects import effects
from gpusim.sm.front.barrier import barrier
from gpusim.sm.front.block_scheduler import block_scheduler
from gpusim.sm.front.cluster import cluster_barrier
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.lanes.convergence.declaration import GIVE_WAY
from gpusim.sm.lanes.values import product, values
from gpusim.sm.memory.copy_engine import copy_engine
from gpusim.sm.records import Memory, Numbers, Records, Row, Sm, Table, Warp
from gpusim.sm.registers import answers
from gpusim.sm.unit.capacities import AWAITED, TOLD
from gpusim.sm.unit.opcodes import BARRIER, BRANCH, EXIT, SIGNAL
from gpusim.sm.unit.stall import Stall
from gpusim.sm.walk import access_log, issue, step, work_log
from gpusim.sm.walk.access_log import Log
from isa.row import DRAINS, WAITS

AT_BARRIER = int(Stall.BARRIER)
NOWHERE = 1 << 40  # a pc behind every program


@rule
def begin(sm: Sm, memory: Memory, away: Numbers, number: int) -> None:
    """Let a block of the grid, by its number, begin."""
    block_scheduler.open_block(sm, 0, number)
    for index in range(sm.launch.warps):
        block_scheduler.open_warp(sm, 0, index)
    away[:] = 0
    step.clear_block(sm, memory, 0)


@rule
def proceed(sm: Sm, memory: Memory, away: Numbers, group: Numbers, log: Log, steps: int) -> int:
    """Run the block for at least so many warp instructions, or to its end or a fault; return how many it was.

    It ends before if the log of accesses is full (gpusim.sm.walk.access_log). `away` tells which warps let others go
    first, `group` is room for those that run together.
    """
    done = 0
    count = gather(sm, away, group)
    while count > 0 and done < steps and not access_log.is_full(log):
        log.size[1] += 1
        for i in range(count):
            if sm.fault.code == 0:
                execute(sm, memory, away, log, group[i])
        done += count
        count = gather(sm, away, group) if sm.fault.code == 0 else 0
    return done


@rule
def proceed_together(sms: Records[Sm], memory: Memory, away: Table, group: Numbers, log: Log, steps: int) -> int:
    """Do the same for a cluster, of which each SM has a block: in turn the warps of each execute an instruction."""
    done, turn = 0, 1
    while turn > 0 and done < steps and not access_log.is_full(log):
        turn = 0
        for s in range(away.shape[0]):
            turn += proceed(sms[s], memory, away[s], group, log, 1)
            if sms[s].fault.code:
                return done
            if sms[s].signals:
                _look_elsewhere(sms, memory, s)
            if sms[s].cluster_news:
                cluster_barrier.meet(sms, s)
                for other in range(away.shape[0]):
                    _let_go_on(sms[other])
        done += turn
    return done


@rarely
def _look_elsewhere(sms: Records[Sm], memory: Memory, s: int) -> None:
    """Land what copies of other blocks bring to barriers: at which SM s has looked in vain, or for which warps wait."""
    for i in range(sms[s].looks):
        _land_from_all(sms, memory, sms[s].looked[i])
    sms[s].looks = 0
    if sms[s].bulk and sms[s].engine.first < sms[s].engine.last:
        for other in range(sms[s].launch.cluster):
            for g in range(sms[other].launch.warps):
                for i in range(AWAITED if sms[other].warps[g].awaits else 0):
                    one = sms[other].awaited[g, i]
                    if one.number and one.ended == NEVER:
                        _land_from_all(sms, memory, one.place)
    for other in range(sms[s].launch.cluster):
        _let_go_on(sms[other])


@rule
def _land_from_all(sms: Records[Sm], memory: Memory, place: int) -> None:
    """Land the copies of all blocks of a cluster that signal the barrier at `place`."""
    for other in range(sms[0].launch.cluster):
        if sms[other].bulk:
            copy_engine.for_barrier(sms[other], memory, place)
            if sms[other].cluster_news:
                cluster_barrier.meet(sms, other)


@rule
def _let_go_on(sm: Sm) -> None:
    """Let those warps go on whose phases are over."""
    for g in range(sm.launch.warps):
        if sm.warps[g].awaits:
            sm.warps[g].release_at[AT_BARRIER] = answers.without_time(sm, g)


@rule
def gather(sm: Sm, away: Numbers, group: Numbers) -> int:
    """Put the warps that run next into `group`, and return how many; those that give way run if nobody else can."""
    pc = _lowest(sm, away)
    if pc == NOWHERE:
        away[:] = 0
        pc = _lowest(sm, away)
    count = 0
    for g in range(sm.launch.warps):
        if _can_run(sm.warps[g]) and sm.warps[g].pc == pc:
            group[count] = g
            count += 1
    return count


@rule
def _lowest(sm: Sm, away: Numbers) -> int:
    """Return the smallest pc of the warps that can run and do not give way; NOWHERE if there are none."""
    pc = NOWHERE
    for g in range(sm.launch.warps):
        if away[g] == 0 and _can_run(sm.warps[g]):
            pc = min(pc, sm.warps[g].pc)
    return pc


@rule
def _can_run(warp: Warp) -> bool:
    return bool(warp.live and warp.release_at[AT_BARRIER] < NEVER)


@rule
def execute(sm: Sm, memory: Memory, away: Numbers, log: Log, g: int) -> None:
    """Execute the next instruction of a warp and find where it goes on; `sm.fault` tells if it can't."""
    warp, logs = sm.warps[g], log.rows.shape[0] > 0
    pc = warp.pc
    instruction = sm.program[pc]
    _before(sm, memory, log, g, pc)
    if not values.execute(sm, memory, g):
        return
    threads = sm.outcome.threads
    instruction.issued += 1
    instruction.active += threads
    warp.pc = pc + 1
    if logs:
        _note(sm, log, g, pc)
    if threads:
        _transfer(sm, log, instruction, g, pc)
        if instruction.steers == GIVE_WAY:
            away[g] = 1
    if sm.diverges and instruction.eventful:
        issue.go_on(sm, warp.scheduler, g, instruction, pc, 0)
    if warp.effects or instruction.grouping:
        effects.in_program_order(sm, memory, g, pc)
        if sm.multiplies:
            product.in_program_order(sm, memory, g, pc)
    if (sm.signals or sm.bulk) and _land_copies(sm, memory, g, pc):
        away[g] = 1
    if logs and (instruction.action == BARRIER or warp.live == 0):
        access_log.note_releases(sm, log)


@rule
def _before(sm: Sm, memory: Memory, log: Log, g: int, pc: int) -> None:
    """Do what comes before an instruction: land what it waits for, and find what it will access."""
    instruction = sm.program[pc]
    if instruction.grouping & (WAITS | DRAINS):
        effects.awaited_in_program_order(sm, memory, g, pc)
    if instruction.bulk:
        copy_engine.make_room(sm, memory)
    if log.phases[0]:
        work_log.note_phases(sm, memory, log)
    if log.rows.shape[0] > 0:
        access_log.find(sm, log, g, pc)


@rule
def _note(sm: Sm, log: Log, g: int, pc: int) -> None:
    """Keep the rows of an instruction that was executed."""
    access_log.note(sm, log, g, pc)
    if log.wanted.shape[0] and log.wanted[pc]:
        work_log.note(sm, log, g, pc)


@on_demand
def _land_copies(sm: Sm, memory: Memory, g: int, pc: int) -> bool:
    """Land what warp slot g waits or looks for with its instruction at `pc`; tell if it lets others go first.

    What comes to barriers for which warps wait already lands at once. Then those warps go on whose phases are over.
    """
    instruction = sm.program[pc]
    looked = sm.outcome.missed if instruction.action == SIGNAL and sm.outcome.threads else -1
    if looked >= 0 and sm.launch.cluster > 1 and sm.looks < TOLD:
        sm.looked[sm.looks] = looked
        sm.looks += 1
    if looked >= 0:
        _land_for(sm, memory, looked)
    if sm.bulk and (instruction.grouping or sm.warps[g].live == 0):
        copy_engine.in_program_order(sm, memory, g, pc)
    if instruction.action >= SIGNAL:
        for other in range(sm.launch.warps):
            for i in range(AWAITED if sm.warps[other].awaits else 0):
                one = sm.awaited[other, i]
                if one.number and one.ended == NEVER:
                    _land_for(sm, memory, one.place)
    _let_go_on(sm)
    return bool(looked >= 0)


@rule
def _land_for(sm: Sm, memory: Memory, place: int) -> None:
    """Land what signals the barrier at a place of memory."""
    effects.for_barrier(sm, memory, place)
    if sm.bulk:
        copy_engine.for_barrier(sm, memory, place)


@rule
def _transfer(sm: Sm, log: Log, instruction: Row, g: int, pc: int) -> None:
    """Let the warp arrive at a barrier, branch or exit; issue.go_on does what lanes do by themselves."""
    if instruction.action == BARRIER:
        barrier.commit(sm, sm.warps[g].scheduler, g, instruction, pc, 0)
        if instruction.cluster_step == 0:
            access_log.arrive(sm, log, g)
    elif instruction.action == BRANCH:
        sm.warps[g].pc = instruction.target
    elif instruction.action == EXIT and not sm.diverges:
        sm.warps[g].live = 0
        sm.blocks[0].live -= 1
        if sm.launch.cluster > 1 or sm.blocks[0].arrived > 0:
            cluster_barrier.leave(sm, g)
