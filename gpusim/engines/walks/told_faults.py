"""The error of a launch that can't go on, from the state of its SM."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from gpusim.launch.launch import Launch
from gpusim.sm.effects import mbarrier
from gpusim.sm.records import Sm
from gpusim.sm.state.fault import Fault
from gpusim.sm.unit.capacities import NEVER
from isa.errors import DeadlockError, ExecutionError, UserError
from isa.executing import clusters, faults, told_copies
from isa.executing.told_copies import Phase
from isa.kernel import Kernel
from isa.nvidia.system import assertions
from isa.nvidia.system.printed import printed
from isa.program import WORD_BYTES

OF_COPIES = {
    Fault.SURPLUS: told_copies.surplus,
    Fault.OVERFLOW: told_copies.overflow,
    Fault.CLUSTERED: told_copies.clustered,
    Fault.BAD_MAP: told_copies.bad_map,
    Fault.MISPLACED: told_copies.misplaced,
    Fault.OUT_OF_SHARED: told_copies.out_of_shared,
    Fault.UNEVEN: told_copies.uneven,
    Fault.OUT_OF_BUFFERS: told_copies.out_of_buffers,
    Fault.BAD_BEGIN: told_copies.bad_begin,
}


# The numbers of cudaError_t. Measured on an H200: of a trap (719), addresses, misalignment, a failed assertion; of the
# others what their names in CUDA say (a guess): what the chip does not execute is an illegal instruction.
ASSERT, TRAP = 710, 719
CUDA_ERRORS: Mapping[Fault, int] = MappingProxyType(
    {
        Fault.OUTSIDE: 700,
        Fault.OUT_OF_SHARED: 700,
        Fault.OUT_OF_BUFFERS: 700,
        Fault.MISALIGNED: 716,
        Fault.MISPLACED: 716,
        Fault.NO_CODE: 718,
        Fault.LEFT_OUT: 715,
        Fault.GONE_WITHIN: 715,
        Fault.MIXED: 715,
        Fault.SEVERAL: 715,
        Fault.STUCK: 702,
    }
)


def fault_of(kernel: Kernel, prepared: Launch) -> UserError:
    """Return the error of the fault that has stopped an SM, with its number in CUDA and what was printed till then."""
    error, code = _fault_of(kernel, prepared), Fault(int(prepared.sm.fault.code))
    if isinstance(error, ExecutionError):
        error.printed = printed(kernel, prepared.memory)
        error.cuda_error = CUDA_ERRORS.get(code, TRAP)
        if code in (Fault.TRAPPED, Fault.NO_CODE) and _called(kernel, prepared) == faults.ASSERTION:
            error.cuda_error, error.asserted = ASSERT, _assertions(kernel, prepared)
    return error


def _called(kernel: Kernel, prepared: Launch) -> str:
    """Return the function of the system whose call has stopped an SM; nothing if none has."""
    return faults.called(kernel, int(prepared.sm.fault.pc), int(prepared.sm.fault.address))


def _assertions(kernel: Kernel, prepared: Launch) -> str:
    """Return what CUDA writes of the threads whose assertions have failed."""
    sm, fault = prepared.sm, prepared.sm.fault
    warp = sm.warps[fault.warp]
    block, first = int(sm.blocks[warp.block].id), int(warp.index) * kernel.warp_size
    held = sm.lanes[fault.warp].registers
    lanes = [lane for lane in range(kernel.warp_size) if int(fault.detail) >> lane & 1]
    each = ((first + lane, np.asarray(held)[: assertions.REGISTERS, lane].tolist()) for lane in lanes)
    return assertions.lines(kernel, prepared.memory, block, each)


def _fault_of(kernel: Kernel, prepared: Launch) -> UserError:
    fault, sm = prepared.sm.fault, prepared.sm
    warp = sm.warps[fault.warp]
    block, index, pc = int(sm.blocks[warp.block].id), int(warp.index), int(fault.pc)
    lane, address, detail = int(fault.lane), int(fault.address), int(fault.detail)
    if fault.code == Fault.MISCOUNTED:
        expected, given = (int(n) or int(sm.blocks[warp.block].live) for n in (fault.address, fault.detail))
        return faults.barrier_count(kernel, pc, block, index, expected=expected, given=given)
    if fault.code in (Fault.CROWDED, Fault.MIXED, Fault.SEVERAL, Fault.PART_OF_WARP, Fault.ARRIVED_TWICE):
        by_warp = {
            Fault.CROWDED: faults.crowded,
            Fault.MIXED: faults.barrier_kinds,
            Fault.SEVERAL: faults.several_barriers,
            Fault.PART_OF_WARP: faults.part_of_warp,
            Fault.ARRIVED_TWICE: faults.arrived_twice,
        }
        return by_warp[Fault(int(fault.code))](kernel, pc, block, index)
    if fault.code in OF_COPIES:
        where = faults.place(kernel, pc, block, index, lane)
        return OF_COPIES[Fault(int(fault.code))](kernel, where, address, detail)
    if fault.code in (Fault.STUCK, Fault.TRAPPED):
        return _stopped(kernel, sm, pc, block)
    if fault.code in (Fault.LEFT_OUT, Fault.GONE_WITHIN):
        told = faults.left_out if fault.code == Fault.LEFT_OUT else faults.gone_within
        return told(kernel, pc, block, index, lane=lane)
    tell: dict[Fault, Callable[..., UserError]] = {
        Fault.NO_CODE: faults.no_code,
        Fault.NO_TEXTURE: faults.no_texture,
        Fault.WRONG_TEXTURE: faults.wrong_texture,
        Fault.MISALIGNED: partial(faults.misaligned, nbytes=detail),
        Fault.OUTSIDE: faults.out_of_bounds,
    }
    return tell[Fault(int(fault.code))](kernel, pc, block, index, lane=lane, address=address)


def _stopped(kernel: Kernel, sm: Sm, pc: int, block: int) -> UserError:
    """Return the error of a trap, or of lanes that all wait for each other."""
    g = int(sm.fault.warp)
    warp = sm.warps[g]
    if sm.fault.code == Fault.TRAPPED:
        return faults.trap(kernel, pc, block, int(warp.index), lane=int(sm.fault.lane))
    groups = [(int(one.pc), int(one.lanes)) for one in sm.parted[g][: int(warp.parted)]]
    return faults.stuck(kernel, pc, block, int(warp.index), groups)


def cluster_deadlock(kernel: Kernel, launches: Sequence[Launch]) -> DeadlockError | None:
    """Return an error that names the first cluster that waits at its barrier, who waits and who is missing; or None."""
    size = kernel.cluster_blocks
    for first in range(0, len(launches), size):
        for slot in range(int(launches[first].sm.launch.resident)):
            together = launches[first : first + size]
            for one in together if size > 1 else ():
                if error := _of_phases(kernel, one, slot, together):
                    return error
            found = [_of_block(kernel, one.sm, slot) for one in together]
            if size > 1 and any(waiting for waiting, _ in found):
                block = int(launches[first].sm.blocks[slot].id)
                return faults.cluster_deadlock(kernel, clusters.of_block(kernel, block)[0], found)
    return None


def _of_block(kernel: Kernel, sm: Sm, slot: int) -> tuple[int, faults.Missing | None]:
    """Return how many warps of a slot's block wait at the barrier of their cluster, and who has not arrived."""
    warps = [sm.warps[g] for g in range(slot * kernel.warps, (slot + 1) * kernel.warps)]
    live = [warp for warp in warps if warp.live]
    waiting = sum(int(warp.cluster_waits) for warp in live)
    others = [warp for warp in live if warp.cluster_until < NEVER]
    missing = [(int(warp.index), int(warp.waits_at)) for warp in others]
    return waiting, faults.Missing(int(sm.blocks[slot].id), missing) if missing else None


def deadlock_of(kernel: Kernel, prepared: Launch) -> DeadlockError:
    """Return an error that names the first blocked block, and where each of its warps waits."""
    sm = prepared.sm
    slot = next(s for s, block in enumerate(sm.blocks) if block.state)
    if error := _of_phases(kernel, prepared, slot, [prepared]):
        return error
    waiting: dict[int, list[tuple[int, int]]] = {}
    needed: dict[int, int] = {}
    for g in range(slot * kernel.warps, (slot + 1) * kernel.warps):
        warp = sm.warps[g]
        if warp.live:
            number = int(warp.waits_for)
            waiting.setdefault(number, []).append((int(warp.index), int(warp.waits_at)))
            needed[number] = int(sm.blocks[slot].barriers[number].expected) or kernel.warps
    return faults.deadlock(kernel, int(sm.blocks[slot].id), waiting, needed)


def _of_phases(kernel: Kernel, one: Launch, slot: int, together: Sequence[Launch]) -> DeadlockError | None:
    """Return an error that names the phases for which warps of a slot's block wait, if any, and who else is there."""
    phases = _phases(one, slot)
    if not phases:
        return None
    who = {warp for phase in phases for warp, _ in phase.who}
    others = [_others(kernel, each, slot, who if each is one else set()) for each in together]
    block = int(one.sm.blocks[slot].id)
    return told_copies.deadlock(kernel, block, phases, [each for each in others if each.exited or each.waiting])


def _others(kernel: Kernel, one: Launch, slot: int, known: set[int]) -> told_copies.Others:
    """Return the warps of a slot's block that are not `known` to wait: who has exited, and who waits where."""
    first = slot * kernel.warps
    rest = [(index, one.sm.warps[first + index]) for index in range(kernel.warps) if index not in known]
    phases = {warp: pc for phase in _phases(one, slot) for warp, pc in phase.who}
    gone = tuple(index for index, warp in rest if not warp.live)
    there = tuple((index, phases.get(index, int(warp.waits_at))) for index, warp in rest if warp.live)
    return told_copies.Others(int(one.sm.blocks[slot].id), gone, there)


def _phases(prepared: Launch, slot: int) -> list[Phase]:
    """Return the phases of barriers in shared memory for which warps of a block wait."""
    sm, memory, found = prepared.sm, prepared.memory, dict[int, list[tuple[int, int]]]()
    for g, warp in enumerate(sm.warps[: int(sm.warp_slots)]):
        for one in sm.awaited[g] if warp.live and warp.block == slot and warp.awaits else ():
            if one.number:
                found.setdefault(int(one.place), []).append((int(warp.index), int(one.pc)))
    first = int(sm.launch.shared_word) + slot * int(sm.launch.shared_words)
    return [_phase(memory, place, WORD_BYTES * (place - first), who) for place, who in sorted(found.items())]


def _phase(memory: Any, place: int, address: int, who: list[tuple[int, int]]) -> Phase:
    word = mbarrier.word_at(memory, place)
    missing = mbarrier.arrivals_to_come(word), mbarrier.bytes_to_come(word)
    return Phase(address, mbarrier.phase_of(memory, place), missing[0], missing[1], tuple(who))
