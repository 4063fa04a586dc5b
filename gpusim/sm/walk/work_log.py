"""Rows of a walk's log about work that ends later than its instruction: copies, products, barriers in shared memory.

What rows have is said beside their marks (gpusim.sm.walk.marks).
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.account.stopping import stop
from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.memory import peers
from gpusim.sm.memory.copy_engine import box
from gpusim.sm.memory.copy_engine.commands import NEARBY
from gpusim.sm.memory.copy_engine.declaration import DIMENSIONS
from gpusim.sm.records import Memory, Sm
from gpusim.sm.state.fault import Fault
from gpusim.sm.unit.capacities import COPIES, LANES
from gpusim.sm.walk.access_log import FIRST, PHASES, WORD, Log, append
from gpusim.sm.walk.marks import (
    ASKED,
    AWAITING,
    BOXED,
    FLIPPED,
    MARK,
    MULTIPLIED,
    NO_BARRIER,
    NOTED,
    PASSED,
    PLACED,
    SIGNALLED,
    SOURCE,
    UNDER_WAY,
)
from isa.program import WORD_BYTES

WORDS = 4  # of descriptors
RUN = 4  # words of a run
CROWDED = int(Fault.CROWDED)


@rarely
def note(sm: Sm, log: Log, g: int, pc: int) -> None:
    """Keep the row of an instruction, which was executed, that is wanted."""
    mark = log.wanted[pc]
    active = sm.outcome.active[0] if sm.outcome.threads > 0 else 0
    high = sm.outcome.active[1] if sm.outcome.threads > 0 and sm.machine.groups > 1 else 0
    if mark == NOTED:
        append(sm, log, g, pc | NOTED << MARK, active, high)
    elif active | high == 0:
        return
    elif mark == PLACED:
        _note_places(sm, log, g, pc)
    elif mark == SIGNALLED:
        _note_barriers(sm, log, g, pc, SIGNALLED, active)
    elif mark == PASSED:
        _note_answer(sm, log, g, pc, active)
    elif mark == ASKED:
        _note_copy(sm, log, g, pc)
    elif mark == BOXED:
        _note_copy(sm, log, g, pc)
        _note_box(sm, log, g, pc)
    elif mark == MULTIPLIED:
        _note_product(sm, log, g, pc, active)


@rule
def _flat(sm: Sm, place: int) -> np.uint32:
    """Return the byte in the cluster's shared memory of a word's place in the memory array."""
    behind, rank = place - sm.launch.shared_word, sm.launch.rank
    if sm.launch.cluster > 1:
        rank += behind // sm.launch.peer
        behind %= sm.launch.peer
    return np.uint32((rank * sm.launch.shared_words + behind) * WORD_BYTES & WORD)


@rule
def _note_places(sm: Sm, log: Log, g: int, pc: int) -> None:
    """Keep the row of where a copy's lanes copy to, as the effect that it has posted says."""
    effect, row = sm.effects[g, sm.warps[g].effects - 1], log.rows[log.size[0]]
    for half in range(sm.machine.groups):
        for lane in range(LANES):
            if (effect.mask[half] >> lane) & 1:
                row[FIRST + half * LANES + lane] = _flat(sm, effect.places[half, lane])
    append(sm, log, g, pc | PLACED << MARK, effect.mask[0], effect.mask[1] if sm.machine.groups > 1 else 0)


@rule
def _note_barriers(sm: Sm, log: Log, g: int, pc: int, mark: int, lanes: int) -> None:
    """Keep the row of the barriers of some lanes."""
    row = log.rows[log.size[0]]
    for lane in range(LANES):
        if (lanes >> lane) & 1:
            place = int(peers.word_at(sm, int(sm.warps[g].block), np.int64(sm.scratch.address[lane])))
            row[FIRST + lane] = _flat(sm, place)
            _see(log, place)
    append(sm, log, g, pc | mark << MARK, lanes, 0)


@rule
def _see(log: Log, place: int) -> None:
    """Watch a barrier from now on; those that are too many are not."""
    for i in range(log.phases[0]):
        if log.phases[1 + 2 * i] == place:
            return
    if log.phases[0] < PHASES:
        at = 1 + 2 * log.phases[0]
        log.phases[0] += 1
        log.phases[at], log.phases[at + 1] = place, -1


@rule
def _note_answer(sm: Sm, log: Log, g: int, pc: int, active: int) -> None:
    """Keep the row of a wait's or a look's lanes for which it is true, or will be when the warp goes on."""
    predicate = sm.program[pc].predicate
    lanes = active & sm.lanes[g * sm.machine.groups].predicates[predicate] if predicate >= 0 else active
    if lanes:
        _note_barriers(sm, log, g, pc, AWAITING if sm.outcome.missed >= 0 else PASSED, lanes)


@rule
def _note_copy(sm: Sm, log: Log, g: int, pc: int) -> None:
    """Keep the row of the copy that was asked for last."""
    copy, row = sm.copies[(sm.engine.last - 1) % COPIES], log.rows[log.size[0]]
    row[FIRST] = _flat(sm, copy.barrier) if copy.barrier >= 0 else np.uint32(NO_BARRIER)
    row[FIRST + 1] = np.uint32(_flat(sm, copy.block_word) + copy.shared)
    row[FIRST + 2] = np.uint32(box.extent(copy))
    row[FIRST + 3] = np.uint32(_flat(sm, copy.own_word) + copy.source if copy.bulk == NEARBY else 0)
    row[FIRST + 4], row[FIRST + 5] = np.uint32(copy.blocks), np.uint32(copy.total)
    row[FIRST + UNDER_WAY] = np.uint32(sm.engine.last - sm.engine.first)
    row[FIRST + SOURCE] = np.uint32(copy.far & WORD)
    for k in range(DIMENSIONS):
        row[FIRST + SOURCE + 1 + k] = np.uint32(copy.begin[k] & WORD)
    if copy.barrier >= 0:
        _see(log, copy.barrier)
    append(sm, log, g, pc | ASKED << MARK, 1, 0)


@rarely
def _note_box(sm: Sm, log: Log, g: int, pc: int) -> None:
    """Keep rows of what the copy that was asked for last accesses in global memory, as runs of rows of its box."""
    copy, words = sm.copies[(sm.engine.last - 1) % COPIES], log.rows.shape[1] - FIRST
    first, inner, step, count, used = 0, 0, 0, 0, 0
    log.rows[log.size[0], FIRST:] = 0
    for at in range(0, copy.total, box.row_bytes(copy)):
        box.find(copy, at, sm.engine)
        begin = max(sm.engine.low, sm.engine.row + at)
        inside = max(0, min(sm.engine.high, sm.engine.row + at + box.row_bytes(copy)) - begin)
        step = begin - first if count == 1 else step
        if inside == inner and count > 0 and begin - first == step * count:
            count += 1
        else:
            used = _keep_run(sm, log, g, pc, used, first, inner, step, count)
            first, inner, step, count = begin, inside, 0, 1 if inside > 0 else 0
    used = _keep_run(sm, log, g, pc, used, first, inner, step, count)
    if 0 < used < words:
        append(sm, log, g, pc | BOXED << MARK, 1, 0)


@rule
def _keep_run(sm: Sm, log: Log, g: int, pc: int, used: int, first: int, size: int, step: int, count: int) -> int:
    """Add a run to the last row, of which so many words are used, and keep the row if it is full; return the same."""
    if count == 0 or sm.fault.code:
        return used
    row = log.rows[log.size[0]]
    row[FIRST + used], row[FIRST + used + 1] = np.uint32(first & WORD), np.uint32(size)
    row[FIRST + used + 2], row[FIRST + used + 3] = np.uint32(step & WORD), np.uint32(count)
    if FIRST + used + RUN < log.rows.shape[1]:
        return used + RUN
    if log.size[0] + 2 >= log.rows.shape[0]:
        stop(sm, CROWDED, g, pc)
        return 0
    append(sm, log, g, pc | BOXED << MARK, 1, 0)
    log.rows[log.size[0], FIRST:] = 0
    return 0


@rule
def _note_product(sm: Sm, log: Log, g: int, pc: int, active: int) -> None:
    """Keep the row of the product that the warp has posted last."""
    effect, row = sm.effects[g, sm.warps[g].effects - 1], log.rows[log.size[0]]
    for word in range(WORDS):
        row[FIRST + word] = effect.values[0, word, 0]
    row[FIRST + WORDS] = np.uint32(effect.truth[0])
    append(sm, log, g, pc | MULTIPLIED << MARK, active, 0)


@rarely
def note_phases(sm: Sm, memory: Memory, log: Log) -> None:
    """Keep a row of each phase that has ended since they were looked at; a barrier seen for the first time has none."""
    for i in range(log.phases[0]):
        place, before = log.phases[1 + 2 * i], log.phases[2 + 2 * i]
        now = np.int64(memory[place + 1]) >> 31
        if before >= 0 and now != before:
            log.rows[log.size[0], FIRST] = _flat(sm, place)
            append(sm, log, 0, FLIPPED << MARK, 1, 0)
        log.phases[2 + 2 * i] = now
