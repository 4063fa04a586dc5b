"""What instructions do to barriers in shared memory, lane by lane, when they issue.

A wait answers for the lanes whose phase is over. If it is over for none, the warp waits for the phase of the first
lane, and the answer will be that it is over, in all lanes that wait for the same; others look again. Where other lanes
of the warp could run, which may be those that end the phase, a wait answers at once, as a look does, and both let them
run first.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.account.stopping import stop
from gpusim.sm.effects import effects, mbarrier, waiting
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.lanes.convergence import parted
from gpusim.sm.memory import peers, versions
from gpusim.sm.memory.memory_access import addresses
from gpusim.sm.records import Memory, Row, Sm
from gpusim.sm.state.fault import Fault
from gpusim.sm.unit.capacities import LANES
from isa.nvidia.rows.copies.mbarrier import (
    A_BYTE,
    ANNOUNCED,
    ARRIVALS,
    COME,
    NATIVE,
    ONE_ANNOUNCED,
    ONE_ARRIVAL,
    OPTS_OUT,
)
from isa.program import WORD_BYTES
from isa.row import Signal

BARRIER_BYTES = 8
STATE = np.uint32(0xFFFFF800)  # of the upper word: phase and arrivals, which a state has; the lower register stays
MISPLACED, OUT_OF_SHARED, CLUSTERED = int(Fault.MISPLACED), int(Fault.OUT_OF_SHARED), int(Fault.CLUSTERED)
BEGIN, FORGET, ARRIVE, LOOK, AWAIT, FOLLOW, SEND = (int(one) for one in tuple(Signal)[1:])


@on_demand
def execute(sm: Sm, memory: Memory, g: int, group: int, active: int) -> bool:
    """Do what warp slot g's instruction does in the active lanes of a lane group; False: `sm.fault` says why not."""
    instruction = sm.program[sm.warps[g].pc]
    sm.outcome.missed = -1
    if instruction.signal == SEND:
        return _store(sm, memory, instruction, g, group, active)
    addresses.find(sm, instruction, group)
    for lane in range(LANES):
        if (active >> lane) & 1 and not _checked(sm, g, lane):
            return False
    if instruction.signal in (LOOK, AWAIT):
        _look(sm, memory, instruction, g, group, active)
        return True
    if instruction.signal == FOLLOW:
        return _follow(sm, memory, instruction, g, active)
    return _bring(sm, memory, instruction, g, group, active)


@rule
def _bring(sm: Sm, memory: Memory, instruction: Row, g: int, group: int, active: int) -> bool:
    """Let lanes begin or forget barriers, or arrive at them; False: a fault."""
    if sm.launch.cluster > 1 and sm.launch.timeless == 0 and instruction.signal == ARRIVE:
        active = _send(sm, instruction, g, group, active)
        if active < 0:
            return False
    for lane in range(LANES):
        if (active >> lane) & 1 and not _change(sm, memory, instruction, g, group, lane):
            return False
    for i in range(instruction.writes):
        versions.new_version(sm, g, int(instruction.write[i]))
    return True


@rule
def _place(sm: Sm, g: int, lane: int) -> int:
    """Return the place in the memory array of the barrier at a lane's address."""
    return int(peers.word_at(sm, int(sm.warps[g].block), np.int64(sm.scratch.address[lane])))


@rule
def _is_far(sm: Sm, lane: int) -> bool:
    """Tell whether a lane's address is in another block of the cluster."""
    return bool(peers.rank_of(sm, np.int64(sm.scratch.address[lane])) != sm.launch.rank)


@rule
def _checked(sm: Sm, g: int, lane: int) -> bool:
    """Tell whether a barrier may be at a lane's address."""
    address = np.int64(sm.scratch.address[lane])
    if address % BARRIER_BYTES:
        return stop(sm, MISPLACED, g, sm.warps[g].pc, lane, int(address), BARRIER_BYTES)
    there = sm.program[sm.warps[g].pc].signal == ARRIVE or not _is_far(sm, lane)
    if not there or peers.byte_of(sm, address) + BARRIER_BYTES > WORD_BYTES * sm.launch.shared_words:
        return stop(sm, OUT_OF_SHARED, g, sm.warps[g].pc, lane, int(address), BARRIER_BYTES)
    return True


@rule
def _change(sm: Sm, memory: Memory, instruction: Row, g: int, group: int, lane: int) -> bool:
    """Let a lane begin or forget a barrier, or arrive at it; False: a fault."""
    place, registers, d = _place(sm, g, lane), sm.lanes[group].registers, instruction.destination
    if d >= 0:
        low, high = memory[place], memory[place + 1]
    if instruction.signal == BEGIN:
        a = instruction.source[0]
        memory[place] = registers[a, lane] if a >= 0 else np.uint32(0)
        memory[place + 1] = registers[a + 1, lane] if a >= 0 else np.uint32(0)
    elif instruction.signal == ARRIVE and not _arrive(sm, memory, instruction, g, group, lane):
        return False
    if d >= 0 and instruction.signal == BEGIN:
        registers[d, lane] = low
    if d >= 0:
        registers[d + 1, lane] = high if instruction.signal == BEGIN else high & STATE
    return True


@rule
def _arrive(sm: Sm, memory: Memory, instruction: Row, g: int, group: int, lane: int) -> bool:
    """Bring a lane's arrivals and bytes; False: a fault."""
    place, code = _place(sm, g, lane), int(instruction.number)
    arrivals, come = _brought(sm, instruction, group, lane)
    found = mbarrier.signal(memory, place, arrivals, come, arrivals if code & OPTS_OUT else 0)
    if found == mbarrier.ENDS:
        waiting.ended(sm, memory, g, sm.warps[g].pc, place)
    if found > mbarrier.ENDS:
        address = int(np.int64(sm.scratch.address[lane]))
        return stop(sm, mbarrier.refusal(found), g, sm.warps[g].pc, lane, address)
    return True


@rule
def _brought(sm: Sm, instruction: Row, group: int, lane: int) -> tuple[int, int]:
    """Return the arrivals that a lane brings, and the bytes; those that it announces are negative."""
    code, a = int(instruction.number), instruction.source[0]
    said = int(np.int64(sm.lanes[group].registers[a, lane])) if a >= 0 else int(np.int64(instruction.constant[0]))
    arrivals = said if code & ARRIVALS else 1 if code & ONE_ARRIVAL else 0
    return arrivals, said if code & COME else -said if code & ANNOUNCED else -1 if code & ONE_ANNOUNCED else 0


@rarely
def _send(sm: Sm, instruction: Row, g: int, group: int, active: int) -> int:
    """Let what lanes bring to barriers of other blocks follow later, one effect for a barrier; return the other lanes.

    -1: a fault.
    """
    left = 0
    for lane in range(LANES):
        if (active >> lane) & 1 and _is_far(sm, lane):
            left |= 1 << lane
    own = active & ~left
    while left:
        if not effects.has_room(sm, g, sm.warps[g].pc):
            return -1
        first, arrivals, come = -1, 0, 0
        for lane in range(LANES):
            if (left >> lane) & 1 and (first < 0 or _place(sm, g, lane) == first):
                brought = _brought(sm, instruction, group, lane)
                first, arrivals, come = _place(sm, g, lane), arrivals + brought[0], come + brought[1]
                left &= ~(1 << lane)
        effect = effects.post(sm, g, sm.warps[g].pc)
        effect.barrier, effect.arrivals, effect.tx_bytes = first, arrivals, come
        effect.leaving = arrivals if int(instruction.number) & OPTS_OUT else 0
    return int(own)


@rarely
def _store(sm: Sm, memory: Memory, instruction: Row, g: int, group: int, active: int) -> bool:
    """Let words of lanes go to blocks of the cluster, with their bytes for a barrier; False: a fault."""
    size, left = WORD_BYTES * int(instruction.words), active
    for lane in range(LANES):
        if (active >> lane) & 1:
            for part in range(2):
                address, wanted = _sent_to(sm, instruction, group, lane, part), BARRIER_BYTES if part else size
                if address % wanted:
                    return stop(sm, MISPLACED, g, sm.warps[g].pc, lane, int(address), wanted)
                if peers.byte_of(sm, address) + wanted > WORD_BYTES * sm.launch.shared_words:
                    return stop(sm, OUT_OF_SHARED, g, sm.warps[g].pc, lane, int(address), wanted)
    while left:
        if not effects.has_room(sm, g, sm.warps[g].pc):
            return False
        effect = effects.post(sm, g, sm.warps[g].pc)
        effect.words, effect.arrivals, effect.tx_bytes, together = instruction.words, 0, 0, 0
        for lane in range(LANES):
            barrier = int(peers.word_at(sm, int(sm.warps[g].block), _sent_to(sm, instruction, group, lane, 1)))
            if (left >> lane) & 1 and (together == 0 or barrier == effect.barrier):
                together |= 1 << lane
                effect.barrier, effect.tx_bytes = barrier, effect.tx_bytes + size
                to = peers.word_at(sm, int(sm.warps[g].block), _sent_to(sm, instruction, group, lane, 0))
                effect.places[0, lane] = int(to)
                for word in range(instruction.words):
                    a = instruction.source[0]
                    effect.values[0, word, lane] = sm.lanes[group].registers[a + word, lane] if a >= 0 else 0
        effect.mask[0] = together
        left &= ~together
        if sm.launch.timeless:
            effects.at_once(sm, memory, g)
    return True


@rule
def _sent_to(sm: Sm, instruction: Row, group: int, lane: int, part: int) -> np.int64:
    """Return the address at which a lane's words go, or that of their barrier."""
    held = np.int64(sm.lanes[group].registers[instruction.pointer + part, lane])
    return held + (0 if part else instruction.offset) & 0xFFFFFFFF


@rule
def _follow(sm: Sm, memory: Memory, instruction: Row, g: int, active: int) -> bool:
    """Let an arrival, or a byte, of each lane follow the copies that the warp has issued; one effect for a barrier."""
    left = active
    while left:
        if not effects.has_room(sm, g, sm.warps[g].pc):
            return False
        first, count = -1, 0
        for lane in range(LANES):
            if (left >> lane) & 1 and (first < 0 or _place(sm, g, lane) == first):
                first, count, left = _place(sm, g, lane), count + 1, left & ~(1 << lane)
        effect = effects.post(sm, g, sm.warps[g].pc)
        effect.barrier = first
        effect.arrivals, effect.tx_bytes = (0, count) if instruction.number & A_BYTE else (count, 0)
    if sm.launch.timeless and int(instruction.number) & NATIVE == 0:  # nothing tells when a program looks
        effects.all_at_once(sm, memory, g)
    return True


@rarely
def _look(sm: Sm, memory: Memory, instruction: Row, g: int, group: int, active: int) -> None:
    """Tell each lane whether its phase is over, or let the warp wait for one."""
    over, first = 0, -1
    for lane in range(LANES):
        if (active >> lane) & 1:
            over |= _is_over(sm, memory, instruction, g, group, lane) << lane
            first = lane if first < 0 else first
    if instruction.signal == AWAIT:
        waiting.note(sm, sm.warps[g].pc, _place(sm, g, first))
    if over == 0:
        place, at = _place(sm, g, first), waiting.room(sm, g)
        sm.outcome.missed = place
        if instruction.signal == AWAIT and at >= 0 and not (sm.independent and parted.may_run(sm, g)):
            waiting.begin(sm, g, at, place)
            for lane in range(LANES):
                over |= (1 << lane) & active if _place(sm, g, lane) == place else 0
    predicate = instruction.predicate
    if predicate >= 0:
        held = sm.lanes[group].predicates[predicate]
        sm.lanes[group].predicates[predicate] = (held & ~active) | over


@rule
def _is_over(sm: Sm, memory: Memory, instruction: Row, g: int, group: int, lane: int) -> int:
    """Return whether the phase that a lane names by its parity, the top bit of its source, is over."""
    a = instruction.source[0]
    word = sm.lanes[group].registers[a, lane] if a >= 0 else np.uint32(instruction.constant[0])
    return 1 if mbarrier.phase_of(memory, _place(sm, g, lane)) != np.int64(word) >> 31 else 0
