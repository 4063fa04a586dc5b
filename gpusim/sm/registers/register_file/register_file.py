"""Register file: each bank reads one register of a warp per cycle, and a scheduler's instructions collect in order.

The reads of an instruction queue at their banks (`register_bank` of declaration.py) after those of earlier ones;
`collecting` and `window` limit how late they may be. A dispatch stall stops the whole scheduler: no other warp
overtakes. Flagged sources in the reuse cache, and carried ones, are not read. docs/units/register-file.md has the rule.
"""

from __future__ import annotations

from gpusim.sm.account.stall_accounting import stall_accounting
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import count_bits, lowest_bit, rarely, rule
from gpusim.sm.jit.vectors import held
from gpusim.sm.memory.memory_access import access_cost, memory_access
from gpusim.sm.records import MachineNumbers, Row, Scheduler, Sm, Table, Warp
from gpusim.sm.registers.matrix_registers import matrix_registers
from gpusim.sm.registers.register_file.declaration import COUNT_BITS, OF_WARP, PLACES, SLOTS, WARP_BITS
from gpusim.sm.unit.capacities import REUSE
from gpusim.sm.unit.stall import DISPATCH
from isa.operands.register_bank import BANK_PERIOD

COUNT = (1 << COUNT_BITS) - 1
WIDE = SLOTS * REUSE  # the first place of operands of 64 bits


@rarely
def earliest(sm: Sm, k: int, warp: Warp, now: int) -> int:
    """Return the first cycle at which the warp's next instruction may collect operands, if nothing issues before it."""
    machine, scheduler = sm.machine, sm.schedulers[k]
    when = max(now, scheduler.stalled_until)
    if machine.window:
        reads, most, done = _next_reads(sm, k, warp, sm.program[warp.pc]), machine.window, 0
        for bank in range(machine.register_banks):
            count = _of_bank(reads, bank)
            if count:
                most, done = max(most, count), max(done, scheduler.bank_free[bank] + count)
        when = max(when, done - most)
    return when


@on_demand
def making_way(sm: Sm, k: int, warp: Warp, earliest: int, now: int) -> int:
    """Return when the warp's next instruction goes, from `earliest` on, beside matrix instructions under way.

    Until then the scheduler waits, and its tensor cores with it, but for products of warpgroups.
    """
    scheduler, instruction, when = sm.schedulers[k], sm.program[warp.pc], now
    reads, kept = _next_reads(sm, k, warp, instruction), _kept_operands(sm, warp, instruction)
    while when < earliest or not _fits(sm, scheduler, instruction, reads, kept, when):
        if instruction.bank_writes and not instruction.unhurried and matrix_registers.writes(scheduler, when):
            matrix_registers.delay(scheduler, when)
        when += 1
    if when > now and scheduler.matrix_until > now:
        matrix_registers.hold(sm, k, when - now, now)
    return when


@rule
def selectable(sm: Sm, k: int, warp: Warp, now: int) -> bool:
    """Tell whether the warp's next instruction may be selected beside products of warpgroups.

    One that waits for its sums alone leaves the slot to others. One that waits for reads before it, or reads more of a
    bank than the window holds, keeps it.
    """
    instruction, reads = sm.program[warp.pc], _next_reads(sm, k, warp, sm.program[warp.pc])
    if earliest(sm, k, warp, now) > now or _fullest(sm.machine, reads) > sm.machine.window > 0:
        return True
    return bool(_fits(sm, sm.schedulers[k], instruction, reads, _kept_operands(sm, warp, instruction), now))


@rule
def _fits(sm: Sm, scheduler: Scheduler, instruction: Row, reads: int, kept: int, now: int) -> bool:
    """Tell whether it reads in time if it issues now, and neither reads nor writes beside a matrix instruction."""
    machine = sm.machine
    if instruction.matrix_written:
        return not matrix_registers.collides(sm, scheduler, instruction, kept, now)
    if instruction.unhurried:
        return now >= scheduler.matrix_memory
    if instruction.bank_writes and (matrix_registers.writes(scheduler, now) or matrix_registers.sums(sm, now)):
        return False
    if machine.window == 0:
        return True
    last = now + max(machine.window + machine.matrix_slack, _fullest(machine, reads))
    for bank in range(machine.register_banks):
        count = _of_bank(reads, bank)
        free = max(scheduler.bank_free[bank], now)
        if count and matrix_registers.read_until(sm, scheduler, bank, count, free) > last:
            return False
    return True


@rule
def _kept_operands(sm: Sm, warp: Warp, instruction: Row) -> int:
    """Return the mask of a matrix instruction's operands that the reuse cache holds: by the last words of each."""
    mask = 0
    if instruction.matrix_written and sm.machine.reuse:
        cache, base, words = _cache(sm, warp), _base(sm.machine, warp), sm.machine.reuse
        for slot in range(SLOTS):
            end = instruction.source[slot] + instruction.source_words[slot]
            stays = instruction.source_words[slot] > 0
            for register in range(max(instruction.source[slot], end - words), end):
                stays &= cache[_place(instruction, slot), register & (words - 1)] == base + register + 1
            mask |= stays << slot
    return mask


@rule
def prepare(sm: Sm, warp: Warp, instruction: Row) -> None:
    """Work out what each bank reads for the warp's next instruction, without what warps share, or carried sources."""
    if sm.machine.reuse and warp.kept_places & instruction.sought_places:
        warp.bank_reads = _reads(sm, warp, instruction)
    else:
        warp.bank_reads = instruction.bank_reads


@rarely
def stall(sm: Sm, k: int, until: int, now: int) -> None:
    """Stop scheduler k from issuing until then."""
    scheduler = sm.schedulers[k]
    scheduler.stalled_until = until
    units = scheduler.units
    while units:
        unit = lowest_bit(units)
        units &= units - 1
        stall_accounting.hold(sm, k, unit, DISPATCH, now)


@rarely
def commit(sm: Sm, k: int, warp: Warp, instruction: Row, now: int) -> int:
    """Collect the instruction's operands; return by how many cycles the last is read after this one."""
    machine, scheduler = sm.machine, sm.schedulers[k]
    reads, done = _next_reads(sm, k, warp, instruction), now + 1
    if instruction.matrix_written:
        matrix_registers.commit(sm, scheduler, instruction, _kept_operands(sm, warp, instruction), now)
        reads = 0
    if machine.address_again:
        reads += _again(sm, scheduler, instruction, reads)
    for bank in range(machine.register_banks):
        count, returned = _of_bank(reads, bank), _returned(sm, instruction, bank) if instruction.bank_returns else 0
        if count + returned:
            free = max(scheduler.bank_free[bank], now)
            done = max(done, free + count) if count else done
            scheduler.bank_free[bank] = matrix_registers.read_until(sm, scheduler, bank, count, free) + returned
    if machine.collecting:
        _collect(scheduler, machine.collecting, done)
    if machine.reuse:
        places = scheduler.kept_places if machine.reuse_shared else warp.kept_places
        if instruction.reuse or places & instruction.sought_places:
            _keep(sm, warp, instruction, places)
        if machine.reuse_shared and machine.obeys_codes and instruction.yields and scheduler.kept_places:
            scheduler.kept[:] = 0
            scheduler.kept_places = 0
    if machine.carried:
        scheduler.reader = _slot(machine, warp) * sm.program.size + warp.pc - 1
    return done - now - 1


@rarely
def _again(sm: Sm, scheduler: Scheduler, instruction: Row, reads: int) -> int:
    """Return what an address takes more of its bank right behind another one of that bank, in COUNT_BITS for a bank."""
    bank, last = -1, scheduler.addressed - 1
    if instruction.queued and 0 <= instruction.pointer < sm.launch.thread_registers:
        bank = int(sm.machine.bank_of[instruction.pointer & (BANK_PERIOD - 1)])
    again = bank >= 0 and bank == last
    scheduler.addressed = 0 if again else bank + 1
    return int(sm.machine.address_again << COUNT_BITS * bank if again and _of_bank(reads, bank) else 0)


@rule
def late(machine: MachineNumbers, behind: int) -> int:
    """Return by how many cycles operands that are read so many cycles later delay a result."""
    fixed = (
        machine.window or machine.obeys_codes
    )  # the window's delay is part of the latency; control codes rely on this
    return 0 if fixed else behind


@rule
def reading(machine: MachineNumbers, behind: int) -> int:
    """Return for how many cycles operands, the last of them read so late, keep other instructions out of their pipe."""
    return behind + 1 if machine.window else 0


@rarely
def _returned(sm: Sm, instruction: Row, bank: int) -> int:
    """Return the cycles for which a returning result takes the bank: at most its share of the access's port time."""
    cycles, most = _of_bank(instruction.bank_returns, bank), 0
    if not memory_access.accesses(instruction):
        return cycles
    for other in range(sm.machine.register_banks):
        most += _of_bank(instruction.bank_returns, other)
    taken = access_cost.service(sm.machine, instruction, sm.outcome.cycles)
    port = max(instruction.port, taken * instruction.port_cycles)
    return min(cycles, cycles * port // most) if port else cycles


@rule
def _collect(scheduler: Scheduler, collecting: int, done: int) -> None:
    """Note that the last instruction has its operands at `done`; the next waits for the one `collecting` before it."""
    for i in range(collecting - 1, 0, -1):
        scheduler.collected[i] = scheduler.collected[i - 1]
    scheduler.collected[0] = done
    scheduler.stalled_until = scheduler.collected[collecting - 1]


@rule
def _of_bank(reads: int, bank: int) -> int:
    return reads >> COUNT_BITS * bank & COUNT


@rule
def _fullest(machine: MachineNumbers, reads: int) -> int:
    """Return the reads of the bank that has the most."""
    most = 0
    for bank in range(machine.register_banks):
        most = max(most, _of_bank(reads, bank))
    return most


@rule
def _next_reads(sm: Sm, k: int, warp: Warp, instruction: Row) -> int:
    """Return how many registers each bank reads for the instruction, in COUNT_BITS for each bank."""
    before = _before(sm, k, warp) if sm.machine.carried else -1
    if before >= 0:
        return int(_less_carried(sm, warp, instruction, before))
    shares = sm.machine.reuse_shared and sm.schedulers[k].kept_places & instruction.sought_places
    return int(_reads(sm, warp, instruction) if shares else warp.bank_reads)


@rarely
def _reads(sm: Sm, warp: Warp, instruction: Row) -> int:
    """Return the same without carried sources; none of a matrix instruction, which reads at fixed times."""
    machine, reads = sm.machine, 0
    if instruction.matrix_written:
        return 0
    if instruction.sources_apart and not instruction.many_words:
        places = held(_cache(sm, warp), instruction.sought, _base(machine, warp))
        return int(instruction.bank_reads - _by_bank(machine, instruction, places))
    for i in range(instruction.reads):
        register = int(instruction.read[i])
        elsewhere = register >= sm.launch.thread_registers  # one for all lanes
        if not elsewhere and not _kept(sm, warp, instruction, register):
            reads += 1 << COUNT_BITS * machine.bank_of[register & (BANK_PERIOD - 1)]
    return reads


@rule
def _by_bank(machine: MachineNumbers, instruction: Row, places: int) -> int:
    """Return how many registers of those places of the reuse cache each bank has."""
    found = 0
    for bank in range(machine.register_banks):
        found += count_bits(instruction.places_of_bank >> PLACES * bank & places) << COUNT_BITS * bank
    return found


@rarely
def _less_carried(sm: Sm, warp: Warp, instruction: Row, before: int) -> int:
    """Return the reads without those of registers that the instruction at pc `before` has read."""
    machine, reads = sm.machine, 0
    for i in range(instruction.reads):
        register = int(instruction.read[i])
        elsewhere = register >= sm.launch.thread_registers
        kept = elsewhere or (machine.reuse > 0 and _kept(sm, warp, instruction, register))
        if not kept and not _carried(sm.program[before], register):
            reads += 1 << COUNT_BITS * machine.bank_of[register & (BANK_PERIOD - 1)]
    return reads


@rule
def _slot(machine: MachineNumbers, warp: Warp) -> int:
    return warp.place * machine.schedulers + warp.scheduler


@rule
def _before(sm: Sm, k: int, warp: Warp) -> int:
    """Return the pc of the last instruction of scheduler k that read operands, if it is the warp's; else -1."""
    pc = sm.schedulers[k].reader - _slot(sm.machine, warp) * sm.program.size
    return pc if 0 <= pc < sm.program.size else -1


@rule
def _carried(before: Row, register: int) -> bool:
    """Tell whether the previous instruction has read the register and not written it."""
    read = False
    for i in range(before.reads):
        read |= before.read[i] == register
    for i in range(before.writes):
        read &= before.write[i] != register
    return read


@rule
def _kept(sm: Sm, warp: Warp, instruction: Row, register: int) -> bool:
    """Tell whether the reuse cache holds the register in all its operand slots; addresses are never kept."""
    if instruction.pointer <= register <= instruction.pointer + instruction.pointer_pair:
        return False
    cache, word = _cache(sm, warp), register & (sm.machine.reuse - 1)
    for slot in range(SLOTS):
        first = instruction.source[slot]
        is_operand = first <= register < first + instruction.source_words[slot]
        if is_operand and cache[_place(instruction, slot), word] != _base(sm.machine, warp) + register + 1:
            return False
    return True


@rule
def _cache(sm: Sm, warp: Warp) -> Table:
    """Return the reuse cache of the warp: its scheduler's, or its own."""
    return sm.schedulers[warp.scheduler].kept if sm.machine.reuse_shared else warp.kept


@rule
def _base(machine: MachineNumbers, warp: Warp) -> int:
    """Return what a cache holds of a register of the warp, less the register's number and one."""
    return int(_slot(machine, warp) * OF_WARP if machine.reuse_shared else 0)


@rule
def _keep(sm: Sm, warp: Warp, instruction: Row, kept: int) -> None:
    """Keep flagged sources from now on; drop a kept source that is not flagged. These places are not empty."""
    cache, base = _cache(sm, warp), _base(sm.machine, warp)
    if instruction.many_words:
        kept = _keep_many(sm, warp, instruction, kept)
    else:
        changed = held(cache, instruction.sought, base) ^ instruction.flagged_places
        while changed:
            place = lowest_bit(changed)
            changed &= changed - 1
            stays = (instruction.flagged_places >> place & 1) > 0
            kept = _put(cache, kept, place, base + instruction.sought[place] if stays else 0)
    if sm.machine.reuse_shared:
        sm.schedulers[warp.scheduler].kept_places = kept
    else:
        warp.kept_places = kept


@rarely
def _keep_many(sm: Sm, warp: Warp, instruction: Row, kept: int) -> int:
    """Do the same, one after the other, where registers of a source take the same place."""
    cache, base, mask = _cache(sm, warp), _base(sm.machine, warp), sm.machine.reuse - 1
    for slot in range(SLOTS):
        first, row = instruction.source[slot], _place(instruction, slot)
        flagged = (instruction.reuse >> slot & 1) > 0
        for register in range(first, first + instruction.source_words[slot]):
            what = base + register + 1
            if (cache[row, register & mask] == what) != flagged:
                kept = _put(cache, kept, row * REUSE + (register & mask), what if flagged else 0)
    return kept


@rule
def _put(cache: Table, kept: int, place: int, what: int) -> int:
    """Let the cache hold that in a place, 0: nothing; it drops another warp's of the other width. Return its places."""
    cache[place // REUSE, place % REUSE] = what
    if what == 0:
        return kept & ~(1 << place)
    other = place - WIDE if place >= WIDE else place + WIDE
    if cache[other // REUSE, other % REUSE] >> WARP_BITS != what >> WARP_BITS:
        cache[other // REUSE, other % REUSE] = 0
        kept &= ~(1 << other)
    return kept | 1 << place


@rarely
def forget(sm: Sm, warp: Warp) -> None:
    """A warp begins: the cache that it shares has nothing of the warp before in its slot."""
    scheduler = sm.schedulers[warp.scheduler]
    for place in range(PLACES):
        what = scheduler.kept[place // REUSE, place % REUSE]
        if what and what >> WARP_BITS == _slot(sm.machine, warp):
            scheduler.kept[place // REUSE, place % REUSE] = 0
            scheduler.kept_places &= ~(1 << place)


@rule
def _place(instruction: Row, slot: int) -> int:
    """Return where an operand slot's registers are kept: 64-bit operands separate from 32-bit ones."""
    return slot + SLOTS if instruction.source_words[slot] > 1 else slot
