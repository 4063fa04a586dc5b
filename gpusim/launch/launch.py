"""Combine kernel and machine into everything an engine runs on: SM state, decoded program, memory, feed and trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.launch import in_turn as turns
from gpusim.launch import scalar_registers
from gpusim.launch.caches import caches, filled_caches, instruction_caches, left_out, lockstep, slowest
from gpusim.launch.caches.filled_caches import Touched
from gpusim.launch.codes.assign_codes import has_codes
from gpusim.launch.codes.code_order import keeps_order
from gpusim.launch.decode import decode
from gpusim.launch.feed import EXECUTION_DRIVEN, TRACE_DRIVEN, Moves, evaluated, moves, prepare_streams, reads_memory
from gpusim.launch.packing import packed
from gpusim.launch.sizes import accesses_of, bulk, diverges, grouped, multiplies, signals, sizes_of
from gpusim.machine.carveout import carved
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import Occupancy, is_one_wave, occupancy
from gpusim.machine.simulated_sms import blocks_of, simulated_blocks
from gpusim.sm.front.block_scheduler.declaration import refill_parts
from gpusim.sm.memory.cache.declaration import SHARE_PARTS, tagged
from gpusim.sm.memory.constant_operand.declaration import cycles_of_line
from gpusim.sm.memory.l2_channel.declaration import own_slices, sector_shares
from gpusim.sm.memory.local_memory import LOCAL_BASE
from gpusim.sm.memory.what_if import packs
from gpusim.sm.pipes.pipe.declaration import choices
from gpusim.sm.records import Chip, Records, Sm
from gpusim.sm.registers.control_code.declaration import by_codes
from gpusim.sm.state.every import comparable
from gpusim.sm.state.layout import Rows
from gpusim.sm.state.room import Sizes, made
from gpusim.sm.unit.capacities import CHOICES, NEVER, PIPES, REGISTERS, SLOTS
from gpusim.sm.unit.opcodes import BARRIER, MEMORY_KINDS
from gpusim.sm.unit.sm import LAUNCHER
from gpusim.sm.unit.stall import UNCHOSEN
from gpusim.support.stages import stage
from isa import texture
from isa.dataflow.lanes.divergence import reconvergence_points
from isa.dataflow.memory.shared_places import shared_places
from isa.errors import UserError
from isa.executing import clusters
from isa.kernel import Kernel
from isa.memory import Held, bases, image, page_ends, with_room
from isa.nvidia.abi.on_chip import on_chip
from isa.program import WORD_BYTES
from isa.row import Unit
from isa.support import frozen

MORE = {
    "warps per scheduler": "set more schedulers (schedulers.count), or fewer warps (limits.warps)",
    "registers of a thread and a warp": "compile for fewer registers",
}
ALONE = "one SM is simulated"  # why SMs take turns where there is one
NOT_YET = -(1 << 40)  # before every cycle


@frozen.comparable
@dataclass
class Launch:
    """The data that engines change in place: the SM, and the memory, whose word w is at byte 4 w.

    The resident blocks' shared and local memory follow global memory. `sms` is an array of one record, `sm` that
    record, `program` its decoded rows; `order` is the reference engine's, the agents' positions by issue slot.
    """

    sms: Records[Sm]
    sm: Sm
    memory: NDArray[np.uint32]
    program: Any
    occupancy: Occupancy
    global_words: int
    sizes: Sizes
    order: list[list[int]] = field(default_factory=list)


@dataclass(frozen=True)
class ChipLaunch:
    """All SMs of a chip: an array of their records, the launch on each, and an array of one shared record.

    `in_turn` says why the SMs must take turns in each cycle; it is empty if they may run ahead of each other.
    """

    sms: Records[Sm]
    each: tuple[Launch, ...]
    chips: Records[Chip]
    in_turn: str


@stage("launch")
def launch(
    kernel: Kernel,
    machine: Machine,
    *,
    feed: str = EXECUTION_DRIVEN,
    fast_forward: bool = False,
    tolerance: int = 0,
    blocks: int | None = None,
    last: int = 0,
    part: bool = False,
    trace: bool = False,
    memory: NDArray[np.uint32] | Held | None = None,
    lines: NDArray[np.bool_] | None = None,
    index: int = 0,
    touched: Touched | None = None,
) -> Launch:
    """Prepare the SM with that number (SM 0 has as many blocks as any); `trace` keeps records.

    The SM gets its first `blocks` blocks (None: all), `last` of them from the end; and brings only a `part` of the
    buffers, as these do (gpusim/launch/caches/left_out.py). `touched` of these (None: all).

    `feed` is one of gpusim.launch.feed.FEEDS. `fast_forward` takes whole periods at once if the feed is trace-driven
    and nothing is traced, and with a `tolerance`, in parts in a million, estimates too. If `memory` is not given, only
    these `lines` of it are filled. Raises UserError if kernel and machine don't fit, or on the trace-driven feed if
    addresses or branches depend on the contents of memory.
    """
    share = len(blocks_of(kernel, machine, 1, index))
    count = share if blocks is None else min(blocks, share)
    _, _, (prepared,) = _prepared(1, kernel, machine, feed, count, memory, lines, touched, trace=trace, index=index)
    prepared.sm.tracing, prepared.sm.launch.next = trace, index
    prepared.sm.machine.refill_parts = refill_parts(machine)  # all SMs are handed blocks
    if count < share:
        left_out.leave_out(prepared.sm, kernel, machine, count, share, last, part=part)
    prepared.sm.comparable, prepared.sm.tolerance = comparable(machine), tolerance
    if fast_forward and feed == TRACE_DRIVEN and not trace:
        prepared.sm.forwarding = comparable(machine, but_for_tags=tolerance > 0)
    return prepared


def launch_together(
    kernel: Kernel, machine: Machine, *, feed: str, memory: NDArray[np.uint32] | Held | None, threads: int = 1
) -> tuple[Records[Sm], Sequence[Launch]]:
    """Prepare as many SMs as a cluster has blocks, each for one block at a time; otherwise as `launch`.

    Without clusters, prepare one for each of so many `threads`, whose words of memory have owners if there are several.
    """
    number, why = kernel.cluster_blocks * threads, turns.UNTIMED if threads > 1 else ALONE
    _, sms, each = _prepared(number, kernel, machine, feed, 1, memory, trace=False, why=why)
    return sms, each


def _stand_for_others(sm: Any, kernel: Kernel, machine: Machine, number: int) -> None:
    """Give one of so many SMs its share of the L2, and of what the SMs with blocks bring to it."""
    sharers, some = min(machine.chip.sms, kernel.blocks), min(number, len(simulated_blocks(kernel, machine, number)))
    sm.launch.sharers, sm.launch.passes_on = sharers, sharers > 1
    sm.machine.shared_cost[:] = sector_shares(machine, sharers)
    sm.machine.store_groups, sm.machine.own_slice = own_slices(machine, max(1, sharers // max(1, some)))
    sm.machine.shared_parts = SHARE_PARTS * some


def _share_l2(sm: Any, kernel: Kernel, machine: Machine, number: int, blocks: int, touched: Touched | None) -> None:
    """Tell one of so many SMs what others, and its blocks so far, leave of the L2."""
    few = number < machine.chip.sms or number == 1
    if few and left_out.stands(machine):  # why: docs/calibration.md
        _stand_for_others(sm, kernel, machine, number)
    elif not few:
        sm.machine.shared_cost[:] = sector_shares(machine, number)
        sm.machine.shared_parts = SHARE_PARTS * number
    if machine.l2 and number in (1, machine.chip.sms):
        slowest.stand(sm, kernel, machine, blocks, alone=number == 1)
    if sm.launch.passes_on or (machine.l2 and machine.l2.keeps_bytes):
        sm.launch.spills = filled_caches.spills(machine, kernel, blocks, touched)
        sm.launch.passes = filled_caches.passes(machine, kernel, blocks, touched)
    sm.launch.keeps, sm.launch.loses = filled_caches.kept_lines(machine)
    sm.load_store.sharers = 1


def launch_chip(
    kernel: Kernel,
    machine: Machine,
    *,
    feed: str = EXECUTION_DRIVEN,
    trace: bool = False,
    memory: NDArray[np.uint32] | Held | None = None,
    in_turn: str = "",
    sms: int | None = None,
    touched: Touched | None = None,
) -> ChipLaunch:
    """Prepare several SMs, which share the memory channel and the blocks after the first wave; otherwise as `launch`.

    `in_turn`: why the SMs must take turns, if known; else they run ahead of each other where they may. `sms`: how many,
    with their shares of the channels and of the blocks; None: all.
    """
    share, number = -(-kernel.blocks // machine.chip.sms), sms or machine.chip.sms
    at = number, kernel, machine, feed, share, memory, None, touched
    why, records, each = _prepared(*at, trace=trace, why=in_turn)
    first_wave = int(each[0].sm.launch.resident) * machine.chip.sms
    for prepared in each:
        launch, numbers, prepared.sm.tracing = prepared.sm.launch, prepared.sm.machine, trace
        share_channel(numbers, number)
        numbers.refill_parts *= launch.apart
        if several_channels(machine):
            numbers.channels = numbers.channel_count
        launch.next, launch.end = launch.index, min(first_wave, kernel.blocks)
    chips = made("chip", 1, each[0].sizes)
    chips["next"], chips["end"] = first_wave, kernel.blocks
    if kernel.cluster_blocks > 1:
        _first_clusters(each, chips, kernel, machine)
    return ChipLaunch(records, tuple(each), chips, why)


def _first_clusters(each: Sequence[Launch], chips: Any, kernel: Kernel, machine: Machine) -> None:
    """Let the first clusters come to the slots of the SMs, and the others behind them."""
    size = kernel.cluster_blocks
    together, count = machine.chip.sms // size, kernel.blocks // size
    resident = int(each[0].sm.launch.resident)
    chips["next"], chips["end"] = resident * together, count
    for s, prepared in enumerate(each):
        for slot in range(resident):
            number = slot * together + s // size * int(prepared.sm.launch.apart)
            prepared.sm.blocks[slot].coming = number + 1 if number < count else 0


def share_channel(numbers: Any, sms: int) -> None:
    """Give the SM a channel of so many SMs: the sum of their shares, which moves a line in proportionally less time."""
    numbers.channel_parts *= sms


def several_channels(machine: Machine) -> bool:
    """Tell whether all SMs of the machine share several channels to the DRAM, and have them in use."""
    known = machine.cache is None or machine.cache.hits in ("none", "tags")
    return machine.memory_channels is not None and machine.memory_channels.count > 1 and known


def _prepared(
    number: int,
    kernel: Kernel,
    machine: Machine,
    feed: str,
    count: int,
    memory: NDArray[np.uint32] | Held | None,
    lines: NDArray[np.bool_] | None = None,
    touched: Touched | None = None,
    *,
    trace: bool,
    why: str = ALONE,
    index: int = 0,
) -> tuple[str, Any, list[Launch]]:
    """Prepare so many SMs from that `index` on with one global memory, each with the first `count` blocks of the first.

    `why` says why they must take turns. Return the same, or why else they must; empty if they may run ahead.
    """
    fits = occupancy(kernel, machine)
    kernel = on_chip(kernel, machine.chip.sms) if kernel.cluster_blocks == 1 else kernel
    whole, machine = machine, carved(kernel, machine)
    resident = min(fits.blocks, count)
    check_capacity(machine, kernel, resident)
    computed, behind = evaluated(kernel, feed), resident * _words_of_block(kernel)
    decoded = decode(kernel, whole, computed, reconvergence_points(kernel.program))  # kept by it, as the bound's is
    defers, each = feed == EXECUTION_DRIVEN and not packs(machine) and _defers(kernel, machine, decoded), []
    if why in ("", turns.TAGGED):  # which is so unless something else holds
        why = turns.reason(kernel, machine, computed, decoded, number, trace=trace, defers=defers) or why
    apart = not why or turns.only_share(kernel, machine, why)
    owners = turns.owners(kernel, computed, memory) if apart else 0
    replays = feed == TRACE_DRIVEN
    room = number * behind + caches.words(machine, number, recorded=replays) + owners
    words = _image(kernel, feed, computed, memory, lines, room)
    global_words = len(words) - room
    if owners:
        turns.prepare_owners(words, len(words) - owners, kernel)
    turn = cycles_of_line(machine, resident * kernel.warps, kernel.blocks)
    numbers = packed(machine, flagged=bool(decoded["reuse"].any()))
    instruction_caches.pack(numbers, machine, len(decoded), apart=not is_one_wave(kernel, machine, fits.blocks))
    known, how = moves(kernel) if replays else None, {"traces": trace, "defers": defers, "ahead": not why}
    sizes = sizes_of(kernel, machine, numbers, decoded, resident, known, **how)
    sms = made("sm", number, sizes)
    for s in range(number):
        sm = sms[s]
        sm.machine, sm.defers = numbers, defers
        instruction_caches.fill(sm, machine, len(decoded))
        _place(sm.launch, kernel, s, machine.chip.sms // number, index)
        sm.launch.constant_cycles, sm.launch.constant_lag = turn
        sm.ahead.on, sm.ahead.alert = not why, turns.is_alert(machine)
        sm.ahead.owners = len(words) - owners if owners else 0
        _start(sm, machine, resident * kernel.warps)
        _grid(sm.launch, kernel, machine, resident, count, global_words + s * behind)
        sm.launch.peer = behind
        if tagged(machine):
            caches.place(sm.launch, machine, s, number, len(words) - owners, recorded=replays)
            sm.launch.local_base = LOCAL_BASE + s * 4 * behind
            _share_l2(sm, kernel, machine, number, fits.blocks, touched)
        sm.machine.slices *= bool(decoded["packets"].any() or (sm.machine.slices and shared_places(kernel)))
        _program(sm, kernel, decoded, known)
        if sm.launch.sharers > 1:
            lockstep.prepare(sm, kernel)
        each.append(Launch(sms[s : s + 1], sm, words, sm.program.view(Rows), fits, global_words, sizes))
    filled_caches.fill(words, (prepared.sm.launch for prepared in each), machine, kernel, touched)
    return why, sms, each


def _defers(kernel: Kernel, machine: Machine, decoded: Any) -> bool:
    """Tell whether results are kept aside until they are ready, because only the program waits for them.

    Results of machine code count as in time: its compiler knows the chip better than a machine file does.
    """
    if machine.dependence and by_codes(machine):
        own = has_codes(kernel.program) and not kernel.target
        return own and not keeps_order(kernel.program, decoded, machine.dependence.yield_stall)
    return machine.wait_counters is not None and any(i.row.unit in MEMORY_KINDS for i in kernel.program.instructions)


def _words_of_block(kernel: Kernel) -> int:
    """Return the words of shared memory, and of the local memory of all lanes."""
    program = kernel.program
    return program.shared_bytes // WORD_BYTES + kernel.warps * kernel.warp_size * (program.local_bytes // WORD_BYTES)


def _image(
    kernel: Kernel,
    feed: str,
    computed: NDArray[np.bool_],
    memory: NDArray[np.uint32] | Held | None,
    lines: NDArray[np.bool_] | None,
    room: int,
) -> NDArray[np.uint32]:
    """Return global memory as the feed needs it (none if nothing is read), with room for so many words after it."""
    reads = reads_memory(kernel, computed)
    if feed == TRACE_DRIVEN and reads:
        raise UserError(f"{kernel.name}: its addresses or branches depend on what memory holds; take another feed")
    if feed != EXECUTION_DRIVEN and not reads:
        return np.zeros(room, np.uint32)
    return image(kernel, room, lines) if memory is None else with_room(memory, room)


def check_capacity(machine: Machine, kernel: Kernel, resident: int) -> None:
    """Raise UserError if so many resident blocks are more than the rules can tell apart."""
    limits = (
        ("pipes", len(machine.pipe), PIPES),
        ("pipes of a unit class", max(len(choices(machine, unit)) for unit in Unit), CHOICES),
        ("registers of a thread and a warp", scalar_registers.places(kernel.program), REGISTERS - 1),
        ("warps per scheduler", -(-resident * kernel.warps // machine.schedulers.count), SLOTS),
    )
    for what, asked, capacity in limits:
        if asked > capacity:
            fix = MORE.get(what, "choose a smaller value")
            raise UserError(f"{machine.key}: {what} = {asked}: the simulator holds {capacity}; {fix}")


def _start(sm: Any, machine: Machine, warp_slots: int) -> None:
    sm.warp_slots = warp_slots
    sm.agents = machine.schedulers.count + 3
    sm.load_store_agent = machine.schedulers.count + 1
    sm.effects_agent = machine.schedulers.count + 2
    sm.agenda[:] = sm.landing[:] = sm.products.next = sm.products.lands = NEVER
    sm.agenda[LAUNCHER] = 0
    sm.answers = sm.engine.next = NEVER
    sm.marker = -1
    sm.load_store.free[:] = 0
    for scheduler in sm.schedulers:
        scheduler.later_due = NEVER
        scheduler.due[:] = NEVER
        scheduler.issued_at = NOT_YET
        scheduler.holding[:] = UNCHOSEN
        scheduler.last = scheduler.selected = scheduler.reader = -1


def _grid(target: Any, kernel: Kernel, machine: Machine, resident: int, count: int, words: int) -> None:
    target.grid[:], target.block[:] = kernel.grid, kernel.block
    target.threads, target.warps, target.resident = kernel.threads, kernel.warps, resident
    target.sms, target.mhz = machine.chip.sms, machine.chip.shader_mhz
    target.next, target.stride = 0, machine.chip.sms
    target.end = min(kernel.blocks, count * machine.chip.sms)
    target.shared_word, target.shared_words = words, kernel.program.shared_bytes // WORD_BYTES
    target.local_word = words + resident * target.shared_words
    target.local_words = kernel.program.local_bytes // WORD_BYTES


def _place(target: Any, kernel: Kernel, s: int, apart: int, index: int) -> None:
    """Tell simulated SM s where it is: so many `apart` from the next, and with which rank in clusters."""
    target.apart, target.index = apart, index + clusters.sm_number(kernel, s, apart)
    target.cluster, target.cluster_size[:] = kernel.cluster_blocks, kernel.cluster
    target.rank = s % kernel.cluster_blocks


def _program(sm: Any, kernel: Kernel, decoded: Any, known: Moves | None) -> None:
    """Give the SM its program: rows, the outcomes to replay, and the buffers."""
    sm.program[:] = decoded
    sm.grouped, sm.signals, sm.bulk = grouped(decoded), signals(decoded), bulk(decoded)
    sm.multiplies = multiplies(decoded)
    sm.launch.meets = bool((decoded["action"] == BARRIER).any())
    sm.independent = kernel.program.has_independent_lanes
    sm.diverges = diverges(kernel, decoded)
    if known:
        prepare_streams(sm, kernel, known, accesses_of(decoded))
    sm.launch.window, sm.launch.thread_registers = kernel.window, kernel.program.registers
    _buffers(sm, kernel)
    sm.textures[:], sm.launch.textures = texture.table(kernel.textures, bases(kernel.buffers)), len(kernel.textures)


def _buffers(sm: Any, kernel: Kernel) -> None:
    where, behind = bases(kernel.buffers), page_ends(kernel.buffers, kernel.page_bytes)
    sm.launch.buffers = len(kernel.buffers)
    for row, buffer in zip(sm.buffers, kernel.buffers, strict=True):
        row.start, row.end = where[buffer.name], where[buffer.name] + buffer.nbytes
        row.page_end = behind[buffer.name]
