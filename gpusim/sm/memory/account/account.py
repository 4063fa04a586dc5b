"""Count what instructions move, once, where rules move it: by instruction, place of the data and kind.

Who serves an access says for which instruction (`begin`); what moves on the way then counts to it, evicted lines too.
docs/units/account.md says what is counted.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import count_bits, rarely, rule
from gpusim.sm.memory.account.declaration import (
    BUFFERS,
    CONFLICTS,
    DRAM_READ,
    DRAM_WRITTEN,
    ELSEWHERE,
    HITS,
    IN_DRAM,
    IN_FAR_L2,
    IN_L1,
    IN_L2,
    L2_BEYOND,
    L2_MISSES,
    L2_READ,
    L2_REQUESTS,
    L2_UPDATED,
    L2_WRITTEN,
    LOCAL,
    NEEDED,
    REQUESTS,
    SECTORS,
    SHARED,
    WAVEFRONTS,
)
from gpusim.sm.memory.cache.declaration import MEMORY, TAGS
from gpusim.sm.memory.global_memory.declaration import LINES
from gpusim.sm.memory.local_memory import LOCAL_BASE
from gpusim.sm.records import Outcome, Row, Sm
from gpusim.sm.unit.opcodes import FETCH, LOCAL_MEMORY, SHARED_MEMORY, STORE
from isa.memory import SECTOR_BYTES


@rule
def begin(sm: Sm, instruction: Row) -> None:
    """Let what moves from now on count to this instruction."""
    sm.load_store.accounted = instruction.accounted


@rarely
def count(sm: Sm, line: int, kind: int, number: int) -> None:
    """Add to what the instruction that is served moved of a line."""
    unit = sm.load_store
    if unit.placed_line != line + 1:
        _place(sm, line)
    sm.account[unit.accounted, unit.placed, kind] += number


@rarely
def count_both(sm: Sm, line: int, kind: int, number: int, other: int, more: int) -> None:
    """Add to two kinds at once."""
    unit = sm.load_store
    if unit.placed_line != line + 1:
        _place(sm, line)
    sm.account[unit.accounted, unit.placed, kind] += number
    sm.account[unit.accounted, unit.placed, other] += more


@rarely
def _place(sm: Sm, line: int) -> None:
    """Note in which place a line lies; without tags there is one place."""
    sm.load_store.placed_line = line + 1
    sm.load_store.placed = place_of(sm, line * sm.machine.line_bytes) if sm.machine.hits == TAGS else 0


@rule
def place_of(sm: Sm, byte: int) -> int:
    """Return the place of a byte that caches are asked for: its buffer, local memory, or elsewhere."""
    buffer = buffer_of(sm, byte)
    if buffer >= 0:
        return BUFFERS + buffer
    return LOCAL if byte >= LOCAL_BASE else ELSEWHERE


@rule
def buffer_of(sm: Sm, byte: int) -> int:
    """Return the number of the buffer that holds a byte; -1: none does."""
    low, high = 0, int(sm.launch.buffers)
    while low < high:
        middle = (low + high) // 2
        if sm.buffers[middle].end <= byte:
            low = middle + 1
        else:
            high = middle
    return low if low < sm.launch.buffers and sm.buffers[low].start <= byte else -1


@rarely
def serve(sm: Sm, instruction: Row, line: int, cycles: int) -> None:
    """Count an access that asks caches, first for that line, and takes the load/store unit so many cycles."""
    begin(sm, instruction)
    sm.load_store.level = IN_L1
    count_both(sm, line, REQUESTS, 1, WAVEFRONTS, cycles // max(1, int(sm.machine.global_request)))


@rule
def ask(sm: Sm, line: int, units: int, nbytes: int) -> None:
    """Count the sectors of a line, a mask, that the first cache is asked for; lanes access so many bytes of them."""
    count_both(sm, line, SECTORS, count_bits(units), NEEDED, nbytes)


@rule
def needed(sm: Sm, line: int, nbytes: int) -> None:
    """Count the bytes of a line that a copy of the copy engine moves."""
    count(sm, line, NEEDED, nbytes)


@rule
def held(sm: Sm, line: int, units: int) -> None:
    """Count sectors that the first cache holds, or waits for already."""
    if units:
        count(sm, line, HITS, count_bits(units))


@rule
def reached(sm: Sm, level: int) -> None:
    """Note that the access that is served needs a level."""
    sm.load_store.level = max(sm.load_store.level, level)


@rule
def goes_to(sm: Sm, away: int) -> None:
    """Note that the access needs a slice of the L2 that is so many cycles further away than the mean."""
    reached(sm, IN_FAR_L2 if away > 0 else IN_L2)


@rule
def brought_by_others(sm: Sm) -> None:
    """Note that it waits for what other SMs bring from the DRAM."""
    reached(sm, IN_DRAM)


@rule
def read(sm: Sm, line: int, units: int) -> None:
    """Count sectors that the L2 is asked for."""
    reached(sm, IN_L2)
    _of_l2(sm, line, L2_READ, units)


@rule
def written(sm: Sm, line: int, units: int) -> None:
    """Count sectors that go to the L2 to stay."""
    _of_l2(sm, line, L2_WRITTEN, units)


@rule
def updated(sm: Sm, line: int, units: int) -> None:
    """Count sectors that the L2 changes, for an atomic or a reduction."""
    reached(sm, IN_L2)
    _of_l2(sm, line, L2_UPDATED, units)


@rule
def _of_l2(sm: Sm, line: int, kind: int, units: int) -> None:
    count_both(sm, line, L2_REQUESTS, 1, kind, count_bits(units))


@rule
def beyond(sm: Sm, line: int, units: int) -> None:
    """Count sectors read that the partition of the L2 near the SM lacks."""
    if units:
        reached(sm, IN_FAR_L2)
        count(sm, line, L2_BEYOND, count_bits(units))


@rule
def missed(sm: Sm, line: int, units: int) -> None:
    """Count sectors that the L2 is asked for, lacks, and asks the DRAM for."""
    count(sm, line, L2_MISSES, count_bits(units))


@rule
def from_dram(sm: Sm, line: int, sectors: int) -> None:
    """Count sectors that come from the DRAM: whole ones of the L2, also where a part is asked for."""
    reached(sm, IN_DRAM)
    count(sm, line, DRAM_READ, sectors)


@rule
def to_dram(sm: Sm, line: int, sectors: int) -> None:
    """Count sectors that are written to the DRAM."""
    count(sm, line, DRAM_WRITTEN, sectors)


@rarely
def alone(sm: Sm, instruction: Row, outcome: Outcome, conflicts: int) -> None:
    """Count an access that issues and asks no cache with tags: the cost of its addresses says what it moves.

    So many of its passes through shared memory are `conflicts`.
    """
    kind, machine = instruction.memory_kind, sm.machine
    near = kind == SHARED_MEMORY or (instruction.generic and outcome.transactions == 0)
    place = SHARED if near else LOCAL if kind == LOCAL_MEMORY else ELSEWHERE
    counts = sm.account[instruction.accounted, place if machine.hits == TAGS else 0]
    counts[REQUESTS] += outcome.threads > 0
    if kind == SHARED_MEMORY:
        counts[NEEDED] += outcome.threads * instruction.access_bytes
        counts[WAVEFRONTS] += outcome.cycles // machine.pass_cycles
        counts[CONFLICTS] += conflicts
    else:
        counts[WAVEFRONTS] += outcome.cycles // max(1, int(machine.global_request))
        if outcome.transactions:
            _untagged(sm, instruction, outcome)


@rarely
def _untagged(sm: Sm, instruction: Row, outcome: Outcome) -> None:
    """Count transactions where no cache keeps tags: all go to the DRAM, or all end in the L2."""
    machine, counts = sm.machine, sm.account[instruction.accounted, 0]
    each = machine.line_bytes // SECTOR_BYTES if machine.global_rule == LINES and instruction.action != FETCH else 1
    sectors, stores = outcome.transactions * each, instruction.action == STORE
    counts[NEEDED] += min(outcome.threads * int(instruction.access_bytes), sectors * SECTOR_BYTES)
    counts[SECTORS] += sectors
    if machine.hits == MEMORY:
        counts[DRAM_WRITTEN if stores else DRAM_READ] += sectors
    else:
        counts[L2_REQUESTS] += outcome.transactions
        counts[L2_UPDATED if instruction.packets else L2_WRITTEN if stores else L2_READ] += sectors
