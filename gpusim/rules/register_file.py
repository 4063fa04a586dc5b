"""Register file: each bank reads one register of a warp per cycle, and a scheduler's instructions collect in order.

The reads of an instruction queue at their banks (`gpusim.machine.machine.register_bank`) behind those of earlier ones;
two limits, of which a machine has one or both, say how late they may be when it dispatches:

* `collecting` instructions collect operands at once: the n-th waits until n - collecting has all of its own;
* all reads are done within `window` cycles, or as many as its fullest bank needs.

The first alone meets what was measured on Kepler and Maxwell, the second what an H200 shows; there a pipe takes nothing
else before its operands have been read. What comes back through the queue of memory instructions takes its bank too,
where the machine says so (`returned`, or less where the access is through its port sooner); it is charged at issue,
when nobody knows yet when it will be. A dispatch stall holds the whole scheduler: no other warp overtakes.

The reuse cache keeps the last register of each operand slot whose source was flagged, by warp, width and register
number modulo its words; a source found there is not read. Nor is one, where sources are carried, that the scheduler's
last instruction had too, if that was the same warp's and did not write it.
"""

from __future__ import annotations

from typing import Any

from gpusim.jit.on_demand import on_demand
from gpusim.jit.rule import lowest_bit, rarely, rule
from gpusim.rules import memory_access, stall_accounting
from gpusim.units.capacities import PROGRAM
from gpusim.units.register_file import COUNT_BITS
from gpusim.units.stall import DISPATCH
from isa.register_bank import BANK_PERIOD

COUNT = (1 << COUNT_BITS) - 1
SLOTS = 3  # operands a, b, c


@rarely
def earliest(sm: Any, k: int, warp: Any, now: int) -> int:
    """First cycle at which the warp's next instruction may collect its operands, if nothing issues before it."""
    machine, scheduler = sm.machine, sm.schedulers[k]
    when = max(now, scheduler.stalled_until)
    if machine.window:
        reads = _reads(sm, k, warp, sm.program[warp.pc])
        window = max(machine.window, _fullest(machine, reads))
        for bank in range(machine.register_banks):
            count = _of_bank(reads, bank)
            if count:
                when = max(when, scheduler.bank_free[bank] + count - window)
    return when


@rarely
def stall(sm: Any, k: int, until: int, now: int) -> None:
    """Scheduler k issues nothing until then."""
    scheduler = sm.schedulers[k]
    scheduler.stalled_until = until
    units = scheduler.units
    while units:
        unit = lowest_bit(units)
        units &= units - 1
        stall_accounting.hold(sm, k, unit, DISPATCH, now)


@on_demand
def commit(sm: Any, k: int, warp: Any, instruction: Any, now: int) -> int:
    """The instruction collects its operands; returns how many cycles behind this one the last is read."""
    machine, scheduler = sm.machine, sm.schedulers[k]
    reads, done = _reads(sm, k, warp, instruction), now + 1
    for bank in range(machine.register_banks):
        count, returned = _of_bank(reads, bank), _returned(sm, instruction, bank) if instruction.bank_returns else 0
        if count + returned:
            free = max(scheduler.bank_free[bank], now) + count
            done = max(done, free) if count else done
            scheduler.bank_free[bank] = free + returned
    if machine.collecting:
        _collect(scheduler, machine.collecting, done)
    if machine.reuse:
        _keep(machine, warp, instruction)
    if machine.carried:
        scheduler.reader = _slot(machine, warp) * PROGRAM + warp.pc - 1
    return done - now - 1


@rule
def late(machine: Any, behind: int) -> int:
    """By how many cycles operands that are read so far behind make a result late."""
    fixed = machine.window or machine.codes  # what the window allows is part of the latency; codes count on that
    return 0 if fixed else behind


@rule
def reading(machine: Any, behind: int) -> int:
    """For how many cycles operands of which the last is read so far behind keep others out of their pipe."""
    return behind + 1 if machine.window else 0


@rarely
def _returned(sm: Any, instruction: Any, bank: int) -> int:
    """For how many cycles what comes back takes the bank: no longer than its share of the access's time at the port."""
    cycles, most = _of_bank(instruction.bank_returns, bank), 0
    if not memory_access.accesses(instruction):
        return cycles
    for other in range(sm.machine.register_banks):
        most += _of_bank(instruction.bank_returns, other)
    taken = memory_access.service(sm.machine, instruction, sm.outcome.cycles)
    port = max(instruction.port, taken * instruction.port_cycles)
    return min(cycles, cycles * port // most) if port else cycles


@rule
def _collect(scheduler: Any, collecting: int, done: int) -> None:
    """The last instruction has its operands at `done`; the next waits for one that is `collecting` before it."""
    for i in range(collecting - 1, 0, -1):
        scheduler.collected[i] = scheduler.collected[i - 1]
    scheduler.collected[0] = done
    scheduler.stalled_until = scheduler.collected[collecting - 1]


@rule
def _of_bank(reads: int, bank: int) -> int:
    return reads >> COUNT_BITS * bank & COUNT


@rule
def _fullest(machine: Any, reads: int) -> int:
    """Reads of the bank that has the most."""
    most = 0
    for bank in range(machine.register_banks):
        most = max(most, _of_bank(reads, bank))
    return most


@rule
def _reads(sm: Any, k: int, warp: Any, instruction: Any) -> int:
    """How many registers each bank reads for the instruction, COUNT_BITS for each."""
    machine = sm.machine
    before = _before(sm, k, warp) if machine.carried else -1
    if machine.reuse == 0 and before < 0:
        return int(instruction.bank_reads)
    reads = 0
    for i in range(instruction.reads):
        register = int(instruction.read[i])
        kept = machine.reuse > 0 and _kept(machine, warp, instruction, register)
        if not kept and (before < 0 or not _carried(sm.program[before], register)):
            reads += 1 << COUNT_BITS * machine.bank_of[register & (BANK_PERIOD - 1)]
    return reads


@rule
def _slot(machine: Any, warp: Any) -> int:
    return warp.place * machine.schedulers + warp.scheduler


@rule
def _before(sm: Any, k: int, warp: Any) -> int:
    """The pc of the last instruction that read operands of scheduler k, if the warp's; else -1."""
    pc = sm.schedulers[k].reader - _slot(sm.machine, warp) * PROGRAM
    return pc if 0 <= pc < PROGRAM else -1


@rule
def _carried(before: Any, register: int) -> bool:
    """Whether the instruction before has read the register, and left it as it was."""
    read = False
    for i in range(before.reads):
        read |= before.read[i] == register
    for i in range(before.writes):
        read &= before.write[i] != register
    return read


@rule
def _kept(machine: Any, warp: Any, instruction: Any, register: int) -> bool:
    """Whether the reuse cache has the register for every operand that it is; addresses are never kept."""
    if register == instruction.pointer:
        return False
    for slot in range(SLOTS):
        first = instruction.source[slot]
        is_operand = 0 <= first <= register < first + instruction.words
        if is_operand and warp.kept[_place(instruction, slot), register & (machine.reuse - 1)] != register + 1:
            return False
    return True


@rule
def _keep(machine: Any, warp: Any, instruction: Any) -> None:
    """A flagged source is kept from now on; one that was kept and is not flagged is dropped."""
    for slot in range(SLOTS):
        first = instruction.source[slot]
        for register in range(first, first + instruction.words if first >= 0 else first):
            word = register & (machine.reuse - 1)
            place = _place(instruction, slot)
            if instruction.reuse >> slot & 1:
                warp.kept[place, word] = register + 1
            elif warp.kept[place, word] == register + 1:
                warp.kept[place, word] = 0


@rule
def _place(instruction: Any, slot: int) -> int:
    """Where an operand slot's registers are kept: operands of 64 bits apart from those of 32."""
    return slot + SLOTS if instruction.words > 1 else slot
