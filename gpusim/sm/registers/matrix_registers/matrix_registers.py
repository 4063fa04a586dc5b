"""Matrix instructions read and write registers at fixed times behind their issue; others make way.

Their reads and writes are kept as masks of the cycles from the scheduler's last issue on.
docs/units/matrix-registers.md has the rule.
"""

from __future__ import annotations

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import lowest_bit, rarely, rule
from gpusim.sm.records import Row, Scheduler, Sm
from gpusim.sm.unit.capacities import REGISTER_BANKS
from gpusim.sm.unit.opcodes import UNIT_CODE
from isa.row import Unit

LONGEST = 62  # cycles that a mask holds
SLOTS = 3  # operands a, b, c
TOGETHER = 8  # columns of a warpgroup's product whose sums are read and written at once
TENSOR = UNIT_CODE[Unit.TENSOR]


@rule
def advance(scheduler: Scheduler, now: int) -> None:
    """An instruction issues now: the masks count from here on."""
    if scheduler.matrix_until > scheduler.issued_at:
        _advance(scheduler, min(now - scheduler.issued_at, LONGEST))


@rarely
def _advance(scheduler: Scheduler, cycles: int) -> None:
    scheduler.matrix_writes >>= cycles
    for bank in range(len(scheduler.matrix_reads)):
        scheduler.matrix_reads[bank] >>= cycles


@rarely
def commit(sm: Sm, scheduler: Scheduler, instruction: Row, kept: int, now: int) -> None:
    """Note when a matrix instruction that issues now reads the operands, but for those of mask `kept`, and writes."""
    for slot in range(SLOTS):
        for bank in range(sm.machine.register_banks if (kept >> slot & 1) == 0 else 0):
            scheduler.matrix_reads[bank] |= instruction.matrix_read[slot * REGISTER_BANKS + bank]
    writes = (1 << instruction.matrix_writes) - 1
    scheduler.matrix_writes |= writes << instruction.matrix_written
    scheduler.matrix_memory = now + 1 + instruction.matrix_memory
    cycles = instruction.intervals * sm.machine.pipe_interval[sm.machine.units[TENSOR].choice[0]]
    scheduler.matrix_leaves = now + instruction.matrix_depth + cycles if instruction.matrix_depth else 0
    scheduler.matrix_until = max(scheduler.matrix_until, now + instruction.matrix_lasts, scheduler.matrix_leaves)


@rule
def leaves(scheduler: Scheduler, instruction: Row, now: int) -> bool:
    """Tell whether the instruction, if it issues now, leaves its pipe behind the last matrix instruction."""
    return instruction.matrix_written == 0 or now + instruction.matrix_depth >= scheduler.matrix_leaves


@rule
def read_until(sm: Sm, scheduler: Scheduler, bank: int, count: int, start: int) -> int:
    """Return when the bank has read so many registers, from `start` on, in cycles that matrix instructions leave."""
    cycle = start
    if scheduler.matrix_reads[bank] == 0 and not (sm.multiplies and sm.products.ends > cycle):
        return cycle + count
    while count:
        taken = (scheduler.matrix_reads[bank] >> min(cycle - scheduler.issued_at, LONGEST) & 1) > 0
        count -= not (taken or sums(sm, cycle))
        cycle += 1
    return cycle


@rule
def writes(scheduler: Scheduler, cycle: int) -> bool:
    """Tell whether the banks are taken in that cycle."""
    return (scheduler.matrix_writes >> min(cycle - scheduler.issued_at, LONGEST) & 1) > 0


@rule
def sums(sm: Sm, cycle: int) -> bool:
    """Tell whether the sums of a warpgroup's product take the banks in that cycle."""
    return bool(sm.multiplies and sm.products.since <= cycle < sm.products.ends and _of_product(sm, cycle))


@on_demand
def _of_product(sm: Sm, cycle: int) -> bool:
    """Tell whether the tensor cores, which compute in that cycle, have then to read and write sums."""
    period = max(TOGETHER // sm.machine.product_columns, 1)
    return bool((cycle - sm.products.since) % period < sm.products.sums)


@rule
def collides(sm: Sm, scheduler: Scheduler, instruction: Row, kept: int, cycle: int) -> bool:
    """Tell whether a matrix instruction that issues in that cycle would read a bank beside another instruction."""
    after = min(cycle - scheduler.issued_at, LONGEST)
    for slot in range(SLOTS):
        for bank in range(sm.machine.register_banks if (kept >> slot & 1) == 0 else 0):
            mask = int(instruction.matrix_read[slot * REGISTER_BANKS + bank])
            if scheduler.matrix_reads[bank] >> after & mask:
                return True
            if mask and cycle + lowest_bit(mask) < scheduler.bank_free[bank]:
                return True
    return False


@rule
def delay(scheduler: Scheduler, cycle: int) -> None:
    """In that cycle an instruction waits for a write: reads behind it are a cycle later."""
    here = (2 << min(cycle - scheduler.issued_at, LONGEST - 1)) - 1
    for bank in range(len(scheduler.matrix_reads)):
        reads = scheduler.matrix_reads[bank]
        scheduler.matrix_reads[bank] = (reads & here) | (reads & ~here) << 1
    scheduler.matrix_until += 1


@rule
def hold(sm: Sm, k: int, cycles: int, now: int) -> None:
    """The scheduler dispatches nothing for so many cycles: its tensor cores go on as much later."""
    scheduler, pipe = sm.schedulers[k], sm.machine.units[TENSOR].choice[0]
    taken = sm.pipes[sm.machine.instance[k, pipe], pipe]
    if taken.free > now:
        taken.free += cycles
        scheduler.matrix_leaves += cycles
        scheduler.matrix_until = max(scheduler.matrix_until, scheduler.matrix_leaves)
