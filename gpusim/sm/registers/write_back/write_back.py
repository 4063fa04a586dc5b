"""Write-back: what comes back from the load/store unit is written in a cycle in which no pipe writes its bank.

docs/units/write-back.md has the rule: banks, `lead`, `patience`, `notice`, `room` and `near`.

SMs that run ahead of each other learn later when a result is there, but before it can be written. So room for it is
kept from its service on, and its place does not depend on when its time becomes known.

Writes are computed only on demand: all cycles before the present one are known then.
"""

from __future__ import annotations

from gpusim.sm.account.record import record
from gpusim.sm.account.stall_accounting import stall_accounting
from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.memory.memory_access import memory_access
from gpusim.sm.records import Entry, MachineNumbers, Question, Row, Scheduler, Sm
from gpusim.sm.registers import completion
from gpusim.sm.registers.register_file import register_file
from gpusim.sm.registers.write_back.declaration import COUNTED
from gpusim.sm.unit.capacities import RETURNING
from gpusim.sm.unit.opcodes import STORE
from gpusim.sm.unit.sm import FIRST_SCHEDULER
from isa.operands.register_bank import BANK_PERIOD


@rule
def look(sm: Sm, k: int, now: int) -> None:
    """Stop scheduler k in this cycle, and until it is known to go on, if a result has asked for it."""
    scheduler = sm.schedulers[k]
    acts = scheduler.returns[0] < now or scheduler.stop_due <= now
    if scheduler.stop_until > now or (acts and scheduler.return_banks[0]):
        _look(sm, k, scheduler, now)
    else:
        scheduler.settled = max(scheduler.settled, now)


@rarely
def _look(sm: Sm, k: int, scheduler: Scheduler, now: int) -> None:
    settle(sm, scheduler, now)
    if scheduler.return_banks[0] and scheduler.stop_due <= now:
        scheduler.stop_from, scheduler.stop_until = now, now + sm.machine.notice  # it is written now, as nothing issues
    if scheduler.stop_from <= now < scheduler.stop_until:
        register_file.stall(sm, k, max(scheduler.stalled_until, scheduler.stop_until), now)


@rule
def again(scheduler: Scheduler, now: int) -> int:
    """Return when a scheduler next checks for writes, or for a result for which it stops."""
    if scheduler.stop_from > now:
        return int(scheduler.stop_from)
    return max(now, scheduler.returns[0]) + 1 if scheduler.return_banks[0] else NEVER


@rule
def commit(scheduler: Scheduler, instruction: Row, now: int) -> None:
    """Note the banks that an instruction writes which issues now."""
    if scheduler.wrote_at != now:
        scheduler.wrote_at, scheduler.wrote_banks = now, 0
    scheduler.wrote_banks |= instruction.bank_writes


@rarely
def room_at(sm: Sm, now: int) -> int:
    """Return the first cycle, from `now` on, in which there may be room for an access: one of those near is written."""
    if sm.machine.room == 0 or sm.load_store.coming < sm.machine.room:
        return now
    near, written = 0, NEVER
    for k in range(sm.machine.schedulers):
        scheduler = sm.schedulers[k]
        settle(sm, scheduler, now)
        for i in range(RETURNING):
            if scheduler.return_banks[i] >= COUNTED and scheduler.returns[i] <= now + sm.machine.near:
                near += 1
                written = min(written, max(scheduler.returns[i], now))
    return int(written + 1) if near >= sm.machine.room else now


@rarely
def expect(sm: Sm, instruction: Row, access: Entry | Question, now: int) -> int:
    """Keep room for the results of an access that is served now; return how many there are, 0 also without room."""
    if instruction.action == STORE:
        return 0
    scheduler, results = sm.schedulers[sm.warps[access.warp].scheduler], 0
    settle(sm, scheduler, now)
    for part in range(_parts(instruction, access)):
        results += _banks(sm, instruction, access, part) > 0
    if results == 0 and memory_access.loads_shared(instruction):
        results = int(_follows(scheduler, access.warp))
    if scheduler.expected + results > RETURNING:
        return 0
    scheduler.expected += results
    return results


@rarely
def come_back(sm: Sm, instruction: Row, access: Entry | Question, ready: int, now: int) -> None:
    """Let the results wait of an access that was served at `now`, if room is kept: all are there at `ready`.

    The order in which this is told of accesses does not matter, if it is before their results can be written.
    """
    k = sm.warps[access.warp].scheduler
    counted = COUNTED if memory_access.loads_shared(instruction) else 0
    parts = _parts(instruction, access)
    written = 0
    for part in range(parts):
        banks = _banks(sm, instruction, access, part)
        written |= banks
        if banks or (part == parts - 1 and written == 0):  # what writes nothing takes its place in the order alone
            at = _from(sm.machine, parts - 1 - part, ready, now)
            _enter(sm, sm.schedulers[k], access, at, banks + counted, ready)
            seen = stall_accounting.slot_from(sm.machine, k, max(at, sm.now) + 1)
            sm.agenda[FIRST_SCHEDULER + k] = min(sm.agenda[FIRST_SCHEDULER + k], seen)


@rule
def _follows(scheduler: Scheduler, g: int) -> bool:
    """Tell whether a load from shared memory of warp slot g waits to be written; later ones come back after it."""
    place = 0
    while place < RETURNING and scheduler.return_banks[place]:
        if scheduler.return_banks[place] >= COUNTED and scheduler.return_warp[place] == g:
            return True
        place += 1
    return False


@rule
def first_at(machine: MachineNumbers, instruction: Row, soonest: int, now: int) -> int:
    """Return the first cycle in which a result of an access served at `now` may be written, if all is there then."""
    return _from(machine, instruction.writes - 1, soonest, now)


@rule
def _from(machine: MachineNumbers, behind: int, ready: int, now: int) -> int:
    """Return the first cycle for writing a result with so many after it, the last of which is there at `ready`."""
    return int(max(now + 1, ready - machine.lead - machine.apart * behind))


@rule
def _parts(instruction: Row, access: Entry | Question) -> int:
    """Return into how many results the registers fall, one at least."""
    each = _together(instruction, access)
    return int(max(1, (instruction.writes + each - 1) // each))


@rule
def _together(instruction: Row, access: Entry | Question) -> int:
    """Return how many registers come at once: two if there are fewer passes than registers."""
    return 2 if access.cycles < instruction.writes else 1


@rule
def _banks(sm: Sm, instruction: Row, access: Entry | Question, part: int) -> int:
    """Return the mask of the banks of a result; 0 if no register of it is a thread's own."""
    each, banks = _together(instruction, access), 0
    for i in range(part * each, min(instruction.writes, (part + 1) * each)):
        if instruction.write[i] < sm.launch.thread_registers:
            banks |= 1 << sm.machine.bank_of[instruction.write[i] & (BANK_PERIOD - 1)]
    return int(banks)


@rule
def _enter(sm: Sm, scheduler: Scheduler, access: Entry | Question, at: int, banks: int, ready: int) -> None:
    """Put a result in its place: by time, global memory's first, then in the order of issue; it is expected."""
    place = int(scheduler.expected) - 1  # so no more are before it
    while place > 0 and _goes_before(scheduler, place - 1, at, banks // COUNTED, access.number):
        _move(scheduler, place - 1, place)
        place -= 1
    scheduler.returns[place], scheduler.return_banks[place], scheduler.return_ready[place] = at, banks, ready
    scheduler.return_number[place] = access.number
    scheduler.return_warp[place], scheduler.return_pc[place] = access.warp, access.pc
    sm.load_store.coming += banks // COUNTED
    if place == 0:
        scheduler.stop_due = at + sm.machine.patience + sm.machine.notice


@rule
def _move(scheduler: Scheduler, place: int, to: int) -> None:
    """Let a result wait in another place."""
    scheduler.returns[to], scheduler.return_banks[to] = scheduler.returns[place], scheduler.return_banks[place]
    scheduler.return_ready[to] = scheduler.return_ready[place]
    scheduler.return_number[to] = scheduler.return_number[place]
    scheduler.return_warp[to], scheduler.return_pc[to] = scheduler.return_warp[place], scheduler.return_pc[place]


@rule
def _goes_before(scheduler: Scheduler, place: int, at: int, counted: int, number: int) -> bool:
    """Tell whether a result goes before what is in that place, if anything is."""
    here, there = scheduler.returns[place], scheduler.return_banks[place] // COUNTED
    if scheduler.return_banks[place] == 0 or at != here:
        return bool(scheduler.return_banks[place] == 0 or at < here)
    return bool(counted < there or (counted == there and number < scheduler.return_number[place]))


@rule
def settle(sm: Sm, scheduler: Scheduler, until: int) -> None:
    """Write what can be written in the cycles before `until`."""
    cycle = scheduler.settled
    while scheduler.return_banks[0] and max(cycle, scheduler.returns[0]) < until:
        cycle = max(cycle, scheduler.returns[0])
        if cycle != scheduler.wrote_at or scheduler.return_banks[0] & scheduler.wrote_banks == 0:
            _write(sm, scheduler, cycle)
        cycle += 1
    scheduler.settled = max(scheduler.settled, until)


@rule
def _write(sm: Sm, scheduler: Scheduler, cycle: int) -> None:
    """Write the first result in this cycle; if it has asked for that, the scheduler stops until this is known."""
    wait = sm.machine.patience + sm.machine.notice
    if cycle + sm.machine.notice > scheduler.stop_due:
        scheduler.stop_from, scheduler.stop_until = scheduler.stop_due, cycle + sm.machine.notice
    sm.load_store.coming -= scheduler.return_banks[0] // COUNTED
    scheduler.expected -= 1
    if _is_last(scheduler):
        _complete(sm, scheduler, cycle)
    place = 0
    while place < RETURNING - 1 and scheduler.return_banks[place]:
        _move(scheduler, place + 1, place)
        place += 1
    scheduler.returns[place] = scheduler.return_banks[place] = scheduler.return_ready[place] = 0
    scheduler.return_number[place] = scheduler.return_warp[place] = scheduler.return_pc[place] = 0
    scheduler.stop_due = max(cycle, scheduler.returns[0]) + wait if scheduler.return_banks[0] else 0


@rule
def _is_last(scheduler: Scheduler) -> bool:
    """Tell whether no other result of the first one's access waits."""
    place = 1
    while place < RETURNING and scheduler.return_banks[place]:
        if scheduler.return_number[place] == scheduler.return_number[0]:
            return False
        place += 1
    return True


@rule
def _done_at(machine: MachineNumbers, scheduler: Scheduler, cycle: int) -> int:
    """Return when the access of the first result is done, if this is its last one and is written in this cycle."""
    return int(max(scheduler.return_ready[0], cycle + machine.lead))


@rule
def _complete(sm: Sm, scheduler: Scheduler, cycle: int) -> None:
    """The last result of an access is written in this cycle: it is done `lead` cycles later, or when it is there."""
    g, pc, number = scheduler.return_warp[0], scheduler.return_pc[0], scheduler.return_number[0]
    done = _done_at(sm.machine, scheduler, cycle)
    completion.commit(sm, g, pc, number, done)
    scheduler.written |= 1 << sm.warps[g].place
    if sm.tracing:
        record.write(sm, g, pc, number, done, cycle)
