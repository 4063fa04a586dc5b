"""The register file as a scan of every cycle (`every_cycle.py`) sees it: which bank reads in which cycle."""

from __future__ import annotations

from collections import Counter

from scan_state import Scan, Warp

from gpusim.machine import by_codes
from isa.operand import FIRST_SCALAR, RZ, Address, Register


def _sources(sm: Scan, pc: int) -> list[tuple[str, int, bool]]:
    """(operand slot or `m`, twice for 64 bits, register, flagged for reuse) of every 32-bit source."""
    if pc == len(sm.kernel.program):
        return []
    instruction = sm.kernel.program.instructions[pc]
    slots = [("c" if letter == "D" else letter, o) for letter, o in instruction.slots()]
    operands = [(letter, o.base if isinstance(o, Address) else o) for letter, o in slots]
    words = {letter: 1 if letter == "m" else instruction.row.words for letter, _ in operands}
    return [
        (letter * min(2, words[letter]), _place(sm, o.index + word), o.reuse)
        for letter, o in operands
        if letter in "abcm" and isinstance(o, Register) and o.index != RZ.index
        for word in range(words[letter])
    ]


def _place(sm: Scan, index: int) -> int:
    """Scalar registers lie behind the others that the program uses."""
    return index if index < FIRST_SCALAR else index - FIRST_SCALAR + sm.kernel.program.registers


def _banks(sm: Scan, warp: Warp, pc: int) -> Counter[int]:
    """How many registers each bank reads for the instruction."""
    file = sm.machine.register_file
    assert file is not None
    read = {r for slot, r, _ in _sources(sm, pc) if not file.reuse or warp.kept.get((slot, r % file.reuse)) != r}
    return Counter(register % file.banks for register in read)


def delivers(sm: Scan, k: int, warp: Warp, now: int) -> bool:
    """Whether the register file can deliver the operands of the warp's next instruction."""
    file, scheduler = sm.machine.register_file, sm.schedulers[k]
    if file is None:
        return True
    banks, done = _banks(sm, warp, warp.pc), scheduler.collected[-file.collecting :] if file.collecting else []
    crowded = file.collecting and len(done) == file.collecting and done[0] > now
    last = [max(scheduler.reading.get(bank, -1) + 1, now) + reads for bank, reads in banks.items()]
    in_time = not file.window or max(last, default=now) <= now + max(file.window, *banks.values(), 0)
    return not crowded and in_time


def read_operands(sm: Scan, k: int, warp: Warp, pc: int, now: int, returns: Counter[int]) -> int:
    """Read the operands bank by bank, one register a cycle; how many cycles behind this one the last is read.

    What comes back through the queue takes its banks for so many cycles, behind the reads.
    """
    file, scheduler = sm.machine.register_file, sm.schedulers[k]
    if file is None:
        return 0
    for bank in _banks(sm, warp, pc).elements():
        scheduler.reading[bank] = max(scheduler.reading.get(bank, -1) + 1, now)
    used = [scheduler.reading[bank] for bank in _banks(sm, warp, pc)]
    done = max([now, *used]) + 1
    for bank, cycles in returns.items():
        scheduler.reading[bank] = max(scheduler.reading.get(bank, -1), now - 1) + cycles
    scheduler.collected.append(done)
    if file.collecting and len(scheduler.collected) >= file.collecting:
        scheduler.stalled = scheduler.collected[-file.collecting]
    for slot, register, flagged in _sources(sm, pc) if file.reuse else ():
        place = slot, register % file.reuse
        if flagged:
            warp.kept[place] = register
        elif warp.kept.get(place) == register:
            del warp.kept[place]
    return done - now - 1


def late(sm: Scan, behind: int) -> int:
    """The cycles by which the result is late."""
    file = sm.machine.register_file
    return 0 if not file or file.window or by_codes(sm.machine) else behind


def reading(sm: Scan, behind: int) -> int:
    """The cycles for which its pipe takes nothing else: until its operands have been read."""
    file = sm.machine.register_file
    return behind + 1 if file and file.window else 0
