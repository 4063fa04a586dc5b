"""Who makes way for matrix instructions' reads and writes, as a scan of every cycle (`every_cycle.py`) sees it."""

from __future__ import annotations

from itertools import count

from gpusim.sm.unit.stall import Stall
from isa.operands.operand import FIRST_SCALAR
from isa.row import Unit
from scan.memory import queued
from scan.pipes import pipes_of
from scan.registers import delivers, matrix_reads_of, matrix_times, next_read, reads_by_bank
from scan.state import Scan, Warp


def making_way(sm: Scan, k: int, warp: Warp, now: int) -> int:
    """When the chosen warp's instruction goes: it makes way for matrix instructions' reads and writes.

    While it waits for a write, reads of theirs are a cycle later, and their pipe is free as much later as it waits.
    """
    scheduler, when = sm.schedulers[k], now
    if scheduler.matrix_until <= now:
        return next(t for t in count(now) if delivers(sm, k, warp, t))
    while not (delivers(sm, k, warp, when) and _makes_way(sm, k, warp, when)):
        if when in scheduler.matrix_writes and _writes_from_pipe(sm, warp.pc):
            scheduler.matrix_reads = {(bank, t + (t > when)) for bank, t in scheduler.matrix_reads}
            scheduler.matrix_until += 1
        when += 1
    _hold_tensor(sm, k, when - now, now)
    return when


def in_order(sm: Scan, k: int, ready: list[Warp], now: int) -> list[Warp]:
    """Those of the ready warps whose results leave the tensor cores behind those before; if none does, all wait."""
    leaves, code = sm.schedulers[k].leaves, sm.kernel.program.instructions
    late = [warp for warp in ready if (cost := matrix_times(sm, warp.pc)) and now + cost.depth < leaves]
    others = [warp for warp in ready if warp not in late]
    if not any(code[warp.pc].row.unit is Unit.TENSOR for warp in others if warp.pc < len(code)):
        for warp in late:
            warp.reason = Stall.MATH_PIPE_THROTTLE
    return others


def _hold_tensor(sm: Scan, k: int, cycles: int, now: int) -> None:
    """While operands or a write are waited for the pipe of matrix instructions stands still."""
    for pipe in pipes_of(sm, k, Unit.TENSOR.value)[:1]:
        if sm.pipes.get(pipe, 0) > now:
            sm.pipes[pipe] += cycles
            sm.schedulers[k].leaves += cycles
            sm.schedulers[k].matrix_until = max(sm.schedulers[k].matrix_until, sm.schedulers[k].leaves)


def _writes_from_pipe(sm: Scan, pc: int) -> bool:
    own = any(register < FIRST_SCALAR for register in sm.kernel.program.instructions[pc].writes())
    return own and not _unhurried(sm, pc)


def _unhurried(sm: Scan, pc: int) -> bool:
    """Whether its latency varies: its reads and writes find a cycle that matrix instructions leave."""
    unit, dependence = sm.kernel.program.instructions[pc].row.unit, sm.machine.dependence
    return queued(sm, unit) or (dependence is not None and unit in dependence.variable.split())


def _makes_way(sm: Scan, k: int, warp: Warp, now: int) -> bool:
    """Whether the instruction, if it goes now, reads and writes in cycles that matrix instructions leave."""
    file, scheduler = sm.machine.register_file, sm.schedulers[k]
    if file is None or file.mapping == "none" or warp.pc == len(sm.kernel.program):
        return True
    if matrix_times(sm, warp.pc):
        reads = matrix_reads_of(sm, k, warp, warp.pc, now)
        return not reads & scheduler.matrix_reads and all(t > scheduler.reading.get(bank, -1) for bank, t in reads)
    if _unhurried(sm, warp.pc):
        return now >= scheduler.matrix_memory
    if _writes_from_pipe(sm, warp.pc) and now in scheduler.matrix_writes:
        return False
    banks = reads_by_bank(sm, warp, warp.pc)
    for bank, reads in banks.items():
        last = max(scheduler.reading.get(bank, -1) + 1, now) - 1
        for _ in range(reads):
            last = next_read(scheduler, bank, last + 1)
        if file.window and reads and last >= now + max(file.window + file.matrix_slack, *banks.values()):
            return False
    return True
