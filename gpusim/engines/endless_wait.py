"""Blocks that wait for each other without end: the proof that every warp repeats what it has done.

A warp whose program state (registers, its lanes' places) returns while memory is unchanged does the same for ever. If
this holds for all warps that are not held at a barrier, none will ever store what they wait for. If only some SMs are
simulated, blocks of the others would store it; if all are, the chip would hang, too. Not found are warps that count
their looks, whose state never returns, and warps that read a clock. Nobody looks while blocks leave, matrices are
multiplied or the copy engine is commanded: that is no waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.launch.launch import Launch
from gpusim.launch.scalar_registers import by_index, places
from gpusim.machine.machine import Machine
from gpusim.sm.state.layout import rows_of
from gpusim.sm.unit.capacities import LANES, NEVER
from gpusim.sm.unit.stall import Stall
from gpusim.support.plural import plural
from isa.dataflow.loops import loops
from isa.dataflow.memory.order_dependence import may_vary
from isa.errors import DeadlockError, UserError
from isa.executing.faults import place, variable
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.nvidia.abi.on_chip import synchronises
from isa.operands.operand import RZ_INDEX
from isa.program import WORD_BYTES
from isa.row import Unit

FIRST_LOOK = 1 << 16  # cycles without work before warps are looked at
STRIDE = 7  # cycles between two looks at warps, each of which stands for hundreds where it waits for memory
MANY = 32  # warps for which looks are one more cycle apart: the more ask, the longer each waits, and a look costs more
WINDOW = 1 << 14  # cycles in which each must have come back: a round of a loop that asks memory takes some hundreds
STATE = ("pc", "threads", "lanes", "reconvergence", "depth", "gone", "parted", "convergence", "partners")
AT_BARRIER = int(Stall.BARRIER)
Warp = tuple[int, int]  # its SM's place among those that are simulated, and its slot there


ASK = (  # behind what waits
    "and one SM is simulated; give --sms all to gpusim run, without --trace: a trace and other commands are of one SM"
)


class BlocksWaitError(UserError):
    """Blocks of the simulated SMs wait for blocks of SMs that are not simulated."""


def check_alone(kernel: Kernel, machine: Machine) -> None:
    """Raise UserError where the blocks of one SM wait for those of others, so that it can't be simulated alone."""
    if kernel.cluster_blocks > 1:
        raise UserError(
            f"{kernel.name}: has clusters of {kernel.cluster_blocks} blocks, which run on as many SMs; one "
            "SM alone can't show them"
        )
    if synchronises(kernel) and min(machine.chip.sms, kernel.blocks) > 1:
        raise BlocksWaitError(f"{kernel.name}: synchronises its grid, {ASK}")


@dataclass(frozen=True)
class Looked:
    """When warps were last examined, and when they are next: after so long without work."""

    quiet: int = FIRST_LOOK  # cycles without work
    done: int = 0  # the work so far
    since: int = 0  # the cycle from which quiet cycles count


def left(launches: Sequence[Launch]) -> int:
    """Return how many blocks have left these SMs."""
    return sum(int(one.sm.retired) for one in launches)


def look(
    kernel: Kernel,
    launches: Sequence[Launch],
    advance: Callable[[int], int],
    now: int,
    looked: Looked,
    max_cycles: int,
) -> tuple[int, Looked]:
    """Examine the warps if it is time; return the cycle, and when to look next. Raises the `error` of endless waits.

    Each look without a result doubles the time to the next one.
    """
    done = left(launches) + _worked(kernel, launches)
    if looked.done != done:
        return now, Looked(looked.quiet, done, now)
    if now - looked.since < looked.quiet or now >= min(NEVER, max_cycles - WINDOW):
        return now, looked
    ends, now = waits(kernel, launches, advance, now)
    if ends:
        raise error(kernel, launches)
    return now, Looked(2 * looked.quiet, done, now)


@dataclass
class _Watch:
    """The warps of an SM whose state has not returned: their slots, when each last issued, its former states."""

    launch: Launch
    slots: set[int]
    issued: dict[int, int]
    states: dict[int, set[bytes]]

    def look(self, used: int) -> None:
        """Drop the warps that have issued since the last look and are back in an earlier state."""
        issued = self.launch.sm.warps["issued_at"].tolist()
        for g in [g for g in self.slots if issued[g] != self.issued[g]]:
            self.issued[g] = issued[g]
            state = _state(self.launch, g, used)
            if state in self.states[g]:
                self.slots.remove(g)
            self.states[g].add(state)


def waits(kernel: Kernel, launches: Sequence[Launch], advance: Callable[[int], int], now: int) -> tuple[bool, int]:
    """Advance by WINDOW cycles at most; tell whether all warps repeat a state, memory unchanged, and the cycle."""
    before, times = [_held(one) for one in launches], _clocks_read(kernel, launches)
    back, now = _come_back(launches, advance, now, places(kernel.program))
    same = (np.array_equal(old, new) for old, new in zip(before, map(_held, launches), strict=True))
    return back and times == _clocks_read(kernel, launches) and all(same), now


def _come_back(launches: Sequence[Launch], advance: Callable[[int], int], now: int, used: int) -> tuple[bool, int]:
    """Advance until each warp's state has returned, or by WINDOW cycles; tell whether all have, and the cycle.

    Warps that are held at a barrier count as returned if nobody arrives there.
    """
    live, end = _live(launches), min(NEVER, now + WINDOW)
    issued = {(s, g): int(launches[s].sm.warps[g].issued_at) for s, g in live}
    free = [(s, g) for s, g in live if not _at_barrier(launches, (s, g))]
    watches = [_watch(one, [g for t, g in free if t == s], used) for s, one in enumerate(launches)]
    stride = max(STRIDE, len(live) // MANY)
    while now < end and any(watch.slots for watch in watches):
        now = advance(now + stride)
        for watch in watches:
            watch.look(used)
    still = [warp for warp in live if _at_barrier(launches, warp)]
    moved = [launches[s].sm.warps[g].issued_at != issued[s, g] for s, g in still]
    return now < NEVER and bool(live) and not any(moved) and not any(watch.slots for watch in watches), now


def _watch(launch: Launch, slots: list[int], used: int) -> _Watch:
    issued = {g: int(launch.sm.warps[g].issued_at) for g in slots}
    return _Watch(launch, set(slots), issued, {g: {_state(launch, g, used)} for g in slots})


def error(kernel: Kernel, launches: Sequence[Launch]) -> UserError:
    """Return the error of blocks that wait without end: for other SMs that would be simulated, or on the chip, too."""
    placed = sum(int(one.sm.placed) for one in launches)
    s, g = next(warp for warp in _live(launches) if not _at_barrier(launches, warp))
    warp, sm = launches[s].sm.warps[g], launches[s].sm
    where = place(kernel, min(int(warp.pc), len(kernel.program) - 1), int(sm.blocks[warp.block].id), int(warp.index))
    if int(sm.launch.apart) > 1 and kernel.blocks > int(sm.launch.resident):
        return BlocksWaitError(f"{where}: waits for blocks of SMs that are not simulated, {ASK}")
    ended, resident = left(launches), placed - left(launches)
    waits = f"{where}: waits for a store to {_asked(kernel, launches[s], g)}"
    if placed == kernel.blocks:
        return DeadlockError(
            f"{waits}, and no block will store it: all blocks have begun; look for who should store it"
        )
    return DeadlockError(
        f"{waits}, or for a block that is never placed: {ended} of {kernel.blocks} blocks have ended, "
        f"{plural(resident, 'block')} wait without end, and the others fit only when one ends; "
        f"launch at most as many blocks as fit at once, {resident} here"
    )


def _asked(kernel: Kernel, launch: Launch, g: int) -> str:
    """Return the words for which a warp asks in its loop, with what they hold, as far as its registers say."""
    program, sm = kernel.program, launch.sm
    here, groups = int(sm.warps[g].pc), int(sm.machine.groups)
    loop = min((one for one in loops(program) if here in one), key=len, default=frozenset[int]())
    lane = max(0, int(sm.warps[g].lanes[0]).bit_length() - 1)
    held = rows_of(rows_of(sm.lanes)[g * groups : g * groups + 1]).registers[:, : places(program)]
    registers = by_index(held, program)[0, :, lane]
    asks = [program.instructions[pc] for pc in sorted(may_vary(kernel) & loop)]
    words = dict.fromkeys(_word(kernel, one, registers) for one in asks if Unit.GLOBAL in program.memories(one.row))
    told = [f"{variable(kernel, n)}, which holds {launch.memory[n]}" for n in words if 0 <= n < launch.global_words]
    return " or ".join(told[:2]) or "memory"


def _word(kernel: Kernel, instruction: Instruction, registers: NDArray[np.uint32]) -> int:
    """Return the word of global memory that an instruction accesses in a lane with these registers; -1: not known."""
    address = instruction.address()
    if address is None or address.bank is not None:
        return -1
    parts = [(address.base, address.pair, address.scale)]
    parts += [(address.uniform, address.uniform_pair, 1)] if address.uniform else []
    place = address.offset
    for register, pair, scale in parts:
        if register.index != RZ_INDEX:
            high = int(registers[register.index + 1]) << 32 if pair else 0
            place += scale * (int(registers[register.index]) | high)
    return (place % (1 << 64) - kernel.window if address.wide else place % (1 << 32)) // WORD_BYTES


def _clocks_read(kernel: Kernel, launches: Sequence[Launch]) -> int:
    """Return how often warps have read a clock."""
    return _issued(kernel, launches, Instruction.reads_clock)


def _worked(kernel: Kernel, launches: Sequence[Launch]) -> int:
    """Return how often warps have multiplied matrices, or commanded the copy engine."""
    return _issued(kernel, launches, lambda one: one.row.unit in (Unit.TENSOR, Unit.WARPGROUP) or bool(one.row.bulk))


def _issued(kernel: Kernel, launches: Sequence[Launch], counts: Callable[[Instruction], bool]) -> int:
    """Return how often warps have issued instructions that count."""
    pcs = [pc for pc, instruction in enumerate(kernel.program.instructions) if counts(instruction)]
    return sum(int(one.program.issued[pcs].sum()) for one in launches)


def _live(launches: Sequence[Launch]) -> list[Warp]:
    slots = [np.flatnonzero(one.sm.warps["live"][: int(one.sm.warp_slots)]) for one in launches]
    return [(s, int(g)) for s, each in enumerate(slots) for g in each]


def _at_barrier(launches: Sequence[Launch], warp: Warp) -> bool:
    return bool(launches[warp[0]].sm.warps[warp[1]].release_at[AT_BARRIER] >= NEVER)


def _state(launch: Launch, g: int, used: int) -> bytes:
    """Return a digest of the state that decides a warp's next instructions, apart from memory."""
    sm = launch.sm
    groups = int(sm.machine.groups)
    warp, lanes = sm.warps[g], rows_of(sm.lanes[g * groups : (g + 1) * groups])
    parts: list[Any] = [warp[name] for name in STATE]
    parts += [sm.simt_stack[g][: int(warp.depth)], sm.parted[g][: int(warp.parted)]]
    parts += [lanes.registers[:, :used], lanes.predicates]
    return blake2b(b"".join(np.asarray(part).tobytes() for part in parts), digest_size=16).digest()


def _held(launch: Launch) -> NDArray[np.uint32]:
    """Return the contents of global, shared and local memory, and the state of the blocks' barriers."""
    at, sm = launch.sm.launch, launch.sm
    shared = int(at.shared_word)
    local = int(at.local_word) + int(at.resident * at.warps * sm.machine.groups * at.local_words) * LANES
    arrived = sm.blocks["barriers"]["arrived"][: int(at.resident)]
    return np.concatenate(
        [launch.memory[: launch.global_words], launch.memory[shared:local], arrived.astype(np.uint32).ravel()]
    )
