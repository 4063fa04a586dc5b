"""The register file as a scan of every cycle (`every_cycle.py`) sees it: the cycles in which each bank reads."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import Any

from gpusim.sm.pipes.pipe.declaration import MatrixCost, initiation_interval
from gpusim.sm.registers.control_code.declaration import by_codes
from gpusim.sm.registers.register_file.declaration import RegisterFile
from isa.operands.operand import FIRST_SCALAR, RZ, Address, Register
from isa.row import MEMORY_UNITS, Unit
from scan.state import Scan, Scheduler, Warp


def _sources(sm: Scan, pc: int) -> list[tuple[str, int, bool]]:
    """(operand slot or `m`, twice for 64 bits, register, flagged for reuse) of every 32-bit source of the file."""
    if pc == len(sm.kernel.program):
        return []
    instruction = sm.kernel.program.instructions[pc]
    slots = [("c" if letter == "D" else letter, o) for letter, o in instruction.slots()]
    operands = [(letter, o.base if isinstance(o, Address) else o) for letter, o in slots]
    row = instruction.row
    words = {letter: row.words_of(letter) if letter in "abci" else 1 for letter, _ in operands}
    return [
        (letter * min(2, words[letter]), o.index + word, o.reuse)
        for letter, o in operands
        if letter != "d" and isinstance(o, Register) and o.index < FIRST_SCALAR and o.index != RZ.index
        for word in range(words[letter])
    ]


def reads_by_bank(sm: Scan, warp: Warp, pc: int) -> Counter[int]:
    """The number of registers that each bank reads for the instruction."""
    file = sm.machine.register_file
    assert file is not None
    shared = sm.schedulers[warp.slot % sm.machine.schedulers.count].kept if file.reuse_shared else {}
    own = warp.kept | {place: register for place, (owner, register) in shared.items() if owner is warp}
    read = {r for slot, r, _ in _sources(sm, pc) if not file.reuse or own.get((slot, r % file.reuse)) != r}
    return Counter(bank_of(file, register) for register in read - _carried(sm, warp))


def bank_of(file: RegisterFile, register: int) -> int:
    """The bank in which a register lies."""
    if file.mapping == "kepler":
        register = next(bank for bank, pair in enumerate([{0, 2}, {1, 3}, {4, 6}, {5, 7}]) if register % 8 in pair)
    return register % file.banks


def returned(sm: Scan, pc: int) -> Counter[int]:
    """Cycles for which the registers that come back take each bank."""
    file, found = sm.machine.register_file, Counter[int]()
    for register in sm.kernel.program.instructions[pc].writes() if file and file.mapping != "none" else ():
        assert file is not None
        if register < FIRST_SCALAR:  # those that a warp shares lie elsewhere
            found[bank_of(file, register)] += file.returned
    return found


def _carried(sm: Scan, warp: Warp) -> set[int]:
    """Registers that the scheduler's last instruction, if it was the warp's, has read and not written."""
    file, before = sm.machine.register_file, sm.schedulers[warp.slot % sm.machine.schedulers.count].before
    if file is None or not file.carried or before is None or before[0] is not warp:
        return set()
    written = set(sm.kernel.program.instructions[before[1]].writes())
    return {register for _, register, _ in _sources(sm, before[1])} - written


def delivers(sm: Scan, k: int, warp: Warp, now: int) -> bool:
    """Whether the register file can deliver the operands of the warp's next instruction."""
    file, scheduler = sm.machine.register_file, sm.schedulers[k]
    if file is None or file.mapping == "none":
        return True
    banks = Counter[int]() if matrix_times(sm, warp.pc) else reads_by_bank(sm, warp, warp.pc)
    done = scheduler.collected[-file.collecting :] if file.collecting else []
    crowded = file.collecting and len(done) == file.collecting and done[0] > now
    last = [max(scheduler.reading.get(bank, -1) + 1, now) + reads for bank, reads in banks.items()]
    in_time = not file.window or max(last, default=now) <= now + max(file.window, *banks.values(), 0)
    return not crowded and in_time


def read_operands(sm: Scan, k: int, warp: Warp, pc: int, now: int, returns: Counter[int]) -> int:
    """Read the operands, one register a cycle from each bank; return how many cycles after this one the last is read.

    Results that return through the queue take their banks for the cycles `returns`, after the reads.
    """
    file, scheduler = sm.machine.register_file, sm.schedulers[k]
    if file is None or file.mapping == "none":
        return 0
    banks = reads_by_bank(sm, warp, pc)
    again = _address_again(sm, k, pc)
    if again is not None and banks[again]:
        banks[again] += file.address_again
    if matrix_times(sm, pc):
        banks.clear()
        reads, writes = matrix_reads_of(sm, k, warp, pc, now), matrix_writes_of(sm, pc, now)
        scheduler.matrix_reads |= reads
        scheduler.matrix_writes |= writes
        scheduler.matrix_memory = now + 1 + sm.machine.matrix[sm.kernel.program.instructions[pc].row.matrix].memory
        scheduler.leaves = leaves_at(sm, pc, now)
        ends = (scheduler.matrix_until, scheduler.matrix_memory, *(t + 1 for t in writes), *(t + 1 for _, t in reads))
        scheduler.matrix_until = max(*ends, scheduler.leaves)
    nominal = [max(scheduler.reading.get(bank, -1) + 1, now) + reads for bank, reads in banks.items() if reads]
    for bank, reads in banks.items():
        for _ in range(reads):
            scheduler.reading[bank] = next_read(scheduler, bank, max(scheduler.reading.get(bank, -1) + 1, now))
    done = max([now + 1, *nominal])  # what matrix instructions put off delays nobody but those behind
    for bank, cycles in returns.items():
        scheduler.reading[bank] = max(scheduler.reading.get(bank, -1), now - 1) + cycles
    scheduler.before = warp, pc
    scheduler.collected.append(done)
    if file.collecting and len(scheduler.collected) >= file.collecting:
        scheduler.stalled = scheduler.collected[-file.collecting]
    if file.reuse:
        _keep(sm, k, warp, pc)
    return done - now - 1


def next_read(scheduler: Scheduler, bank: int, cycle: int) -> int:
    """The first cycle from this one on in which no matrix instruction reads the bank."""
    return next(t for t in count(cycle) if (bank, t) not in scheduler.matrix_reads)


def matrix_times(sm: Scan, pc: int) -> MatrixCost | None:
    """When a matrix instruction reads and writes, if it does so at fixed times."""
    if pc == len(sm.kernel.program):
        return None
    cost = sm.machine.matrix.get(sm.kernel.program.instructions[pc].row.matrix)
    return cost if cost and cost.written else None


def matrix_reads_of(sm: Scan, k: int, warp: Warp, pc: int, now: int) -> set[tuple[int, int]]:
    """The bank and cycle of each read of a matrix instruction that issues now: a register of each bank a cycle."""
    cost, file, found = matrix_times(sm, pc), sm.machine.register_file, set()
    assert cost is not None
    assert file is not None
    for letter, begins in zip("abc", (cost.first, cost.second, cost.addend), strict=True):
        sources = [(slot, register) for slot, register, _ in _sources(sm, pc) if slot[0] == letter]
        kept = sm.schedulers[k].kept if file.reuse_shared else warp.kept
        mine = [(slot, (warp, r) if file.reuse_shared else r) for slot, r in sources]
        last = list(zip(sources, mine, strict=True))[-file.reuse :] if file.reuse else []
        if not last or any(kept.get((slot, r % file.reuse)) != one for (slot, r), (_, one) in last):
            found |= {(bank_of(file, r), now + begins + i // file.banks) for i, (_, r) in enumerate(sources)}
    return found


def matrix_writes_of(sm: Scan, pc: int, now: int) -> set[int]:
    """The cycles in which its results take all banks."""
    cost, file = matrix_times(sm, pc), sm.machine.register_file
    assert cost is not None
    assert file is not None
    own = [register for register in sm.kernel.program.instructions[pc].writes() if register < FIRST_SCALAR]
    return {now + cost.written + i // file.banks for i in range(len(own))}


def intervals(sm: Scan, pc: int) -> int:
    """How many initiation intervals an instruction keeps its pipe."""
    row = sm.kernel.program.instructions[pc].row
    own = sm.machine.matrix.get(row.matrix)
    if own is None:
        return row.intervals
    return own.sparse if own.sparse and ".SP." in row.mnemonic else own.interval


def leaves_at(sm: Scan, pc: int, now: int) -> int:
    """The cycle that the next matrix instruction's issue and depth come to at least; 0: any."""
    cost = matrix_times(sm, pc)
    assert cost is not None
    pipe = sm.machine.unit[Unit.TENSOR].pipe.split()[0]
    return now + cost.depth + intervals(sm, pc) * initiation_interval(sm.machine, pipe) if cost.depth else 0


def _keep(sm: Scan, k: int, warp: Warp, pc: int) -> None:
    """Flagged sources take their places; what is kept of the warp and not flagged again goes, and with a yield all."""
    file, control = sm.machine.register_file, sm.code[pc].control
    assert file is not None
    kept: dict[tuple[str, int], Any] = sm.schedulers[k].kept if file.reuse_shared else warp.kept
    for slot, register, flagged in _sources(sm, pc):
        place, mine = (slot, register % file.reuse), (warp, register) if file.reuse_shared else register
        if flagged:
            kept[place] = mine
            wide = (slot[0], place[1]) if len(slot) > 1 else (slot * 2, place[1])  # the place of the other width
            if file.reuse_shared and wide in kept and kept[wide][0] is not warp:
                del kept[wide]
        elif kept.get(place) == mine:
            del kept[place]
    if file.reuse_shared and control and control.yields and by_codes(sm.machine):
        kept.clear()


def _address_again(sm: Scan, k: int, pc: int) -> int | None:
    """The bank of the address, if it is that of the instruction just before, and this one has not come so again."""
    file, scheduler = sm.machine.register_file, sm.schedulers[k]
    assert file is not None
    bases = [o.base for o in sm.kernel.program.instructions[pc].operands if isinstance(o, Address)]
    own = [base.index for base in bases if base.index < FIRST_SCALAR and base.index != RZ.index]
    bank = bank_of(file, own[0]) if own and sm.kernel.program.instructions[pc].row.unit in MEMORY_UNITS else None
    again = bank if bank is not None and bank == scheduler.addressed else None
    scheduler.addressed = bank if again is None else None
    return again


def late(sm: Scan, behind: int) -> int:
    """The cycles by which the result is late."""
    file = sm.machine.register_file
    return 0 if not file or file.window or by_codes(sm.machine) else behind


def reading(sm: Scan, behind: int) -> int:
    """The cycles for which its pipe takes nothing else: until its operands have been read."""
    file = sm.machine.register_file
    return behind + 1 if file and file.window else 0
