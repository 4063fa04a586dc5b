"""Instruction replay: an access with conflicts takes issue slots of its scheduler again (Fermi and Kepler).

It takes a slot for each pass through shared memory, or request to global memory, beyond those that its width needs
without any conflict. The replays follow the issue at once, and meanwhile the scheduler issues nothing else;
instructions that pair with the access in its turn still issue.
"""

from __future__ import annotations

from gpusim.sm.account.record import record
from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.records import MachineNumbers, Row, Scheduler, Sm
from gpusim.sm.unit.opcodes import GLOBAL_MEMORY, SHARED_MEMORY
from gpusim.sm.unit.stall import Stall

REPLAY = int(Stall.INSTRUCTION_REPLAY)


@rule
def earliest(scheduler: Scheduler) -> int:
    """Return when the replays of the scheduler's last instruction are over."""
    return int(scheduler.used_until)


@rarely
def commit(sm: Sm, k: int, g: int, instruction: Row, cycles: int) -> None:
    """Warp slot g's access of such a cost has issued: its replays use the following slots."""
    scheduler = sm.schedulers[k]
    again = slots(sm.machine, instruction, cycles) * sm.machine.interval
    scheduler.used_until += again
    scheduler.lost[REPLAY] += again
    if sm.tracing and again:
        record.replay(sm, k, g, scheduler.used_until)


@rule
def slots(machine: MachineNumbers, instruction: Row, cycles: int) -> int:
    """Return the issue slots that an access of such a cost (`access_cost.cost`) takes again."""
    each = machine.pass_slots if instruction.memory_kind == SHARED_MEMORY else machine.request_slots
    return beyond(machine, instruction, cycles) * int(each)


@rule
def beyond(machine: MachineNumbers, instruction: Row, cycles: int) -> int:
    """Return the passes through shared memory, or requests to global memory, beyond those that its width needs."""
    if instruction.memory_kind == SHARED_MEMORY:
        needed = instruction.matrices if instruction.matrices else machine.free_passes[instruction.width]
        return max(0, int(cycles // machine.pass_cycles - needed))
    if instruction.memory_kind == GLOBAL_MEMORY and instruction.distinct == 0:
        return max(0, int(cycles // machine.global_request - instruction.words * machine.groups))
    return 0
