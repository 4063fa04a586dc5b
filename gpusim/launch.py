"""Kernel x Machine -> everything an engine runs on: the SM's state, decoded program, memory, feed and trace."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim import caches, instruction_caches, machine_record, state
from gpusim.assign_codes import has_codes
from gpusim.decode import QUEUED, SPACES, UNIT_CODE, decode, pipe_names
from gpusim.feed import EXECUTION, REPLAY, evaluated, prepare_replay, reads_memory
from gpusim.machine import (
    Machine,
    by_codes,
    choices,
    initiation_interval,
    line_cycles,
    memory_latency,
    pairs,
    queues,
    register_bank,
    register_banks,
    row_bytes,
    tagged,
    through_port,
    transaction_bytes,
)
from gpusim.memory_schema import Cache
from gpusim.occupancy import Occupancy, occupancy
from gpusim.policy import POLICY_NAMES, REGISTERED, check_policy
from gpusim.stall import UNCHOSEN, Stall
from isa.divergence import meetings
from isa.errors import UserError
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES, bases, image
from isa.program import WORD_BYTES
from isa.register_bank import BANK_PERIOD
from isa.table import Unit

NOT_YET = -(1 << 40)  # before every cycle
LOCAL_BASE = 1 << 32  # by which caches know local memory: behind all global memory
SHARE_PARTS = 64  # of a cycle, in which an SM's share of the channel is reckoned; of n shares together, 64 n


@dataclass
class Launch:
    """What engines change in place: the SM, and the memory, whose word w is at byte 4 w.

    Behind global memory lie the resident blocks' shared and local memory. `sms` is an array of one record, `sm` that
    record, `program` its decoded rows; `order` is the reference engine's, the agents' positions by cycle.
    """

    sms: Any
    sm: Any
    memory: NDArray[np.uint32]
    program: Any
    occupancy: Occupancy
    global_words: int
    order: list[list[int]] = field(default_factory=list)


@dataclass(frozen=True)
class ChipLaunch:
    """All SMs of a chip: an array of their records, the launch on each, and an array of one record that they share."""

    sms: Any
    each: tuple[Launch, ...]
    chips: Any


def launch(
    kernel: Kernel,
    machine: Machine,
    *,
    feed: str = EXECUTION,
    fast_forward: bool = False,
    blocks: int | None = None,
    trace: bool = False,
    memory: NDArray[np.uint32] | None = None,
    lines: NDArray[np.bool_] | None = None,
) -> Launch:
    """Prepare the SM that gets the most blocks of the grid, or its first `blocks` ones; `trace` keeps records.

    `feed` is one of gpusim.feed.FEEDS; `fast_forward` takes periods at once where that is replay and nothing is traced;
    of `memory`, if it is not given, only these `lines` are filled.
    Raises UserError where kernel and machine don't fit, or for the replay feed where addresses or branches depend on
    what memory holds.
    """
    share = -(-kernel.blocks // machine.chip.sms)
    count = share if blocks is None else min(blocks, share)
    _, (prepared,) = _prepared(1, kernel, machine, feed, count, memory, lines)
    prepared.sm.tracing = trace
    own = machine.schedulers.policy in REGISTERED  # it may look at what fast-forward does not compare
    prepared.sm.forwarding = fast_forward and feed == REPLAY and not trace and not own
    return prepared


def launch_chip(
    kernel: Kernel,
    machine: Machine,
    *,
    feed: str = EXECUTION,
    trace: bool = False,
    memory: NDArray[np.uint32] | None = None,
) -> ChipLaunch:
    """Prepare all SMs, which share the memory channel and the blocks behind the first wave; otherwise as `launch`."""
    share = -(-kernel.blocks // machine.chip.sms)
    sms, each = _prepared(machine.chip.sms, kernel, machine, feed, share, memory)
    first_wave = int(each[0].sm.launch.resident) * len(sms)
    for s, prepared in enumerate(each):
        prepared.sm.tracing = trace
        share_channel(prepared.sm, len(sms))
        prepared.sm.launch.next, prepared.sm.launch.end = s, min(first_wave, kernel.blocks)
    chips = np.zeros(1, state.chip_t)
    chips["next"], chips["end"] = first_wave, kernel.blocks
    return ChipLaunch(sms, tuple(each), chips)


def share_channel(sm: Any, sms: int) -> None:
    """Let the SM's channel be that of so many SMs: as many shares, which move a line in as much less time."""
    sm.machine.channel_parts *= sms


def _prepared(
    number: int,
    kernel: Kernel,
    machine: Machine,
    feed: str,
    count: int,
    memory: NDArray[np.uint32] | None,
    lines: NDArray[np.bool_] | None = None,
) -> tuple[Any, list[Launch]]:
    """Prepare so many SMs, each for the first `count` blocks of the first, all with one global memory."""
    fits = occupancy(kernel, machine)
    resident = min(fits.blocks, count)
    _check_capacity(machine, kernel, resident, number)
    computed = evaluated(kernel, feed)
    behind = resident * _words_of_block(kernel)
    room = number * behind + caches.words(machine, number)
    words = _image(kernel, feed, computed, memory, lines, room)
    global_words = len(words) - room
    decoded = decode(kernel, machine, computed, meetings(kernel.program))
    sms = np.zeros(number, state.sm_t)
    each = []
    for s in range(number):
        sm = sms[s : s + 1].view(np.recarray)[0]
        _pack(sm.machine, machine)
        _dependence(sm.machine, machine)
        _selection(sm.machine, machine)
        _instruction_replay(sm.machine, machine)
        sm.flying = feed == EXECUTION and _flying(kernel, machine)
        _register_file(sm.machine, machine, flagged=bool(decoded["reuse"].any()))
        instruction_caches.prepare(sm, machine, len(decoded))
        _start(sm, machine, resident * kernel.warps)
        _grid(sm.launch, kernel, machine, resident, count, global_words + s * behind)
        if tagged(machine):
            caches.place(sm.launch, machine, s, number, len(words))
            sm.launch.local_base = LOCAL_BASE + s * 4 * behind
        sm.program[: len(decoded)] = decoded
        sm.parting = bool((decoded["meeting"] >= 0).any())
        if feed == REPLAY:
            prepare_replay(sm, kernel)
        _buffers(sm, kernel)
        rows = sm.program[: len(decoded)].view(np.recarray)
        each.append(Launch(sms[s : s + 1], sm, words, rows, fits, global_words))
    return sms, each


def _flying(kernel: Kernel, machine: Machine) -> bool:
    """Tell whether results are kept aside until they are there, as nothing but the program waits for them."""
    if by_codes(machine):
        return has_codes(kernel.program)
    return machine.wait_counters is not None and any(i.row.unit in SPACES for i in kernel.program.instructions)


def _words_of_block(kernel: Kernel) -> int:
    """Words of shared memory, and of the local memory of all lanes."""
    program = kernel.program
    return program.shared_bytes // WORD_BYTES + kernel.warps * kernel.warp_size * (program.local_bytes // WORD_BYTES)


def _image(
    kernel: Kernel,
    feed: str,
    computed: NDArray[np.bool_],
    memory: NDArray[np.uint32] | None,
    lines: NDArray[np.bool_] | None,
    room: int,
) -> NDArray[np.uint32]:
    """Return global memory as the feed needs it (none, if nothing is read), with room for so many words behind it."""
    reads = reads_memory(kernel, computed)
    if feed == REPLAY and reads:
        raise UserError(f"{kernel.name}: its addresses or branches depend on what memory holds; take another feed")
    if feed != EXECUTION and not reads:
        return np.zeros(room, np.uint32)
    return image(kernel, room, lines) if memory is None else np.concatenate([memory, np.zeros(room, np.uint32)])


def _check_capacity(machine: Machine, kernel: Kernel, resident: int, sms: int) -> None:
    limits = (
        ("chip.sms", sms, state.SMS),
        ("schedulers.count", machine.schedulers.count, machine_record.SCHEDULERS),
        ("schedulers.dispatch_ports", machine.schedulers.dispatch_ports, state.PORTS),
        ("pipes", len(machine.pipe), machine_record.PIPES),
        ("pipes of a unit class", max(len(choices(machine, unit)) for unit in Unit), machine_record.CHOICES),
        ("load_store.queue", machine.load_store.queue, state.QUEUE),
        ("lines of an instruction cache", instruction_caches.largest(machine), state.CACHED),
        ("shared_memory.banks", machine.shared_memory.banks, state.LANES),
        ("instructions", len(kernel.program) + 1, state.PROGRAM),
        ("memory instructions", sum(i.row.unit in SPACES for i in kernel.program.instructions), state.FEED),
        ("registers of a thread and a warp", kernel.program.registers + kernel.program.scalars, state.REGISTERS - 1),
        ("buffers", len(kernel.buffers), state.BUFFERS),
        ("resident blocks", resident, state.BLOCKS),
        ("resident warps", resident * kernel.warps, state.WARPS),
        ("resident lanes", resident * kernel.warps * kernel.warp_size, state.LANE_GROUPS * state.LANES),
        ("warps per scheduler", -(-resident * kernel.warps // machine.schedulers.count), state.SLOTS),
    )
    for what, asked, capacity in limits:
        if asked > capacity:
            raise UserError(f"{machine.key}: {what} = {asked}: the simulator holds {capacity}; choose a smaller value")


def _pack(packed: Any, machine: Machine) -> None:
    shared, widths = machine.shared_memory, ("32", "64", "128")
    packed.groups = machine.limits.warp_size // state.LANES
    packed.schedulers, packed.interval = machine.schedulers.count, machine.schedulers.interval
    interval = machine.schedulers.interval
    packed.shift = interval.bit_length() - 1 if interval.bit_count() == 1 else -1
    packed.stagger, packed.reissue = machine.schedulers.stagger, machine.schedulers.reissue
    packed.policy, packed.policy_code = _policy(machine.schedulers.policy)
    packed.active = machine.schedulers.active
    packed.rotate, packed.wastes_slot = machine.issue.rotate, machine.issue.refused_wastes_slot
    packed.moves_pointer = machine.issue.refused_moves_pointer
    packed.retry, packed.exclusive = machine.issue.refused_retry, _exclusive(machine)
    packed.ports, packed.same_warp = machine.schedulers.dispatch_ports, machine.issue.pairing == "same-warp"
    packed.queue, packed.pass_cycles, packed.banks = machine.load_store.queue, shared.pass_cycles, shared.banks
    packed.queues, packed.late_cycles = queues(machine), shared.pass_cycles
    if machine.memory_port:
        packed.late_cycles, packed.held = machine.memory_port.late_cycles, machine.memory_port.held
        packed.early[1:] = machine.memory_port.early_64, machine.memory_port.early_128
    if machine.memory_paths:
        packed.sharing = machine.memory_paths.schedulers
    packed.merge_halves = shared.merge_halves
    packed.shared_rule, packed.bank_words = machine_record.SHARED_RULES.index(shared.rule), shared.bank_bytes // 4
    packed.free_passes[:] = [getattr(shared, f"free_passes_{width}") for width in widths]
    packed.global_request = machine.global_memory.request_cycles
    packed.global_rule = machine_record.GLOBAL_RULES.index(machine.global_memory.rule)
    packed.line_bytes = machine.global_memory.line_bytes
    if machine.cache and machine.cache.hits != "none":
        packed.hits = machine_record.HITS.index(machine.cache.hits)
        packed.hit_late = caches.late(machine, machine.cache)
    if machine.cache and tagged(machine):
        _caches(packed, machine, machine.cache)
    packed.row_bytes = lcm(machine.global_memory.line_bytes, row_bytes(machine))
    packed.line_cost, packed.channel_parts = line_cost(machine), SHARE_PARTS
    packed.local_request = machine.local_memory.request_cycles
    packed.barrier, packed.per_warp = machine.barrier.latency, machine.barrier.per_warp
    packed.branch = machine.branch.latency
    packed.block_latency = machine.launch.block_latency
    packed.warp_skew, packed.block_skew = machine.launch.warp_skew, machine.launch.block_skew
    for index, name in enumerate(pipe_names(machine)):
        packed.instance[:, index] = np.arange(machine_record.SCHEDULERS) // machine.pipe[name].schedulers
        packed.pipe_interval[index] = initiation_interval(machine, name)
    for unit, code in UNIT_CODE.items():
        _pack_unit(packed.units[code], unit, machine)
        packed.pairs[code] = sum(1 << UNIT_CODE[other] for other in pairs(machine, unit))


def _caches(packed: Any, machine: Machine, cache: Cache) -> None:
    """What misses take, and what stores do to the L1."""
    packed.far_latency[:] = cache.l2_latency_32, cache.l2_latency_64, cache.l2_latency_128
    packed.far_late, packed.memory_latency = cache.l2_late, memory_latency(machine)
    packed.port_cost, packed.port_parts = cache.l2_sector_parts, SHARE_PARTS
    for which, read in (
        (machine_record.TEXTURES, machine.texture_cache),
        (machine_record.SCALARS, machine.scalar_cache),
        (machine_record.CONSTANTS, machine.constant_cache),
    ):
        packed.read_latency[which] = read.latency if read else 0
        packed.read_far[which] = cache.l2_latency_32
    packed.read_far[machine_record.SCALARS] = machine.unit[Unit.SMEM].latency if Unit.SMEM in machine.unit else 0
    packed.partition_late = machine.l2_partition.late if machine.l2_partition else 0
    if machine.l1:
        packed.misses = machine.l1.misses
        packed.drops_stored = machine.l1.global_stores == "evict"
        packed.keeps_stores = machine.l1.local_stores == "back"


def _dependence(packed: Any, machine: Machine) -> None:
    if machine.dependence and by_codes(machine):
        packed.codes, packed.yield_stall = 1, machine.dependence.yield_stall
    packed.counts = machine.wait_counters is not None or machine.outstanding is not None


def _instruction_replay(packed: Any, machine: Machine) -> None:
    if machine.instruction_replay:
        packed.pass_slots = machine.instruction_replay.pass_slots
        packed.request_slots = machine.instruction_replay.request_slots
        packed.replays = packed.pass_slots + packed.request_slots > 0


def _selection(packed: Any, machine: Machine) -> None:
    """What may hold a selected warp; only a machine that obeys codes has stall counts to freeze."""
    if machine.selection:
        packed.selects, packed.freezes = 1, machine.selection.freezes and by_codes(machine)
        packed.turns = machine.selection.turns * by_codes(machine)
    packed.hesitates = machine.selection is not None or register_banks(machine) > 0


def _register_file(packed: Any, machine: Machine, *, flagged: bool) -> None:
    """`flagged`: some source of the program is kept in the reuse cache."""
    packed.register_banks = register_banks(machine)
    if machine.register_file:
        packed.bank_of[:] = [register_bank(machine, register) for register in range(BANK_PERIOD)]
        packed.carried = machine.register_file.carried
        packed.collecting, packed.window = machine.register_file.collecting, machine.register_file.window
        packed.reuse = machine.register_file.reuse if flagged else 0


def _pack_unit(packed: Any, unit: Unit, machine: Machine) -> None:
    pipes = () if through_port(machine, unit) else choices(machine, unit)
    packed.choices, packed.choice[: len(pipes)] = len(pipes), [pipe_names(machine).index(name) for name in pipes]
    packed.joint, packed.blocked = (
        pipe_names(machine).index(named[unit.value]) if unit.value in named else -1
        for named in (machine.joint, machine.blocked)
    )
    packed.asked = bool(pipes) and not (machine.selection and unit in machine.selection.keeps.split())
    packed.lone = len(pipes) == 1 and packed.joint < 0 and packed.blocked < 0
    packed.path = unit is Unit.SHARED and machine.memory_paths is not None
    packed.double, packed.queued = unit is Unit.DP, unit in QUEUED or through_port(machine, unit)
    throttle = Stall.MIO_THROTTLE if packed.queued else Stall.MATH_PIPE_THROTTLE
    packed.throttle = Stall.TEX_THROTTLE if unit is Unit.TEXTURE else throttle


def line_cost(machine: Machine) -> int:
    """Parts of a cycle that one transaction occupies the channel, rounded: alike for a share and for all shares.

    Where all loads hit a cache the channel is the one to the L2. Where tags say what hits, a transaction is 32 bytes.

    The rounding is below 0.1 % of a line of 128 bytes where a share is at most 16 bytes per cycle.
    """
    if machine.cache and machine.cache.hits in ("l1", "l2"):
        return machine.cache.l2_sector_parts
    size = SECTOR_BYTES if tagged(machine) else transaction_bytes(machine)
    return round(SHARE_PARTS * line_cycles(machine) * size / transaction_bytes(machine))


def _policy(name: str) -> tuple[int, int]:
    """Index of a policy, and its code if it is a registered one."""
    check_policy(name)
    if name in REGISTERED:
        from gpusim.policy_code import code_of  # noqa: PLC0415  (Numba takes long to load)

        return len(POLICY_NAMES), code_of(name)
    return POLICY_NAMES.index(name), 0


def _exclusive(machine: Machine) -> int:
    latency = machine.unit["dp"].latency if "dp" in machine.unit else 0
    cycles = {"off": 0, "issue": machine.schedulers.interval, "flight": latency}
    return cycles[machine.double.exclusive]


def _start(sm: Any, machine: Machine, warp_slots: int) -> None:
    sm.warp_slots = warp_slots
    sm.agents = machine.schedulers.count + 2
    sm.load_store_agent = machine.schedulers.count + 1
    sm.agenda[:] = state.NEVER
    sm.agenda[state.LAUNCHER] = 0
    sm.marker = -1
    sm.load_store.free[:] = 0
    for scheduler in sm.schedulers:
        scheduler.later_due = state.NEVER
        scheduler.due[:] = state.NEVER
        scheduler.issued_at = NOT_YET
        scheduler.holding[:] = UNCHOSEN
        scheduler.last = scheduler.selected = scheduler.reader = -1


def _grid(target: Any, kernel: Kernel, machine: Machine, resident: int, count: int, words: int) -> None:
    target.grid[:], target.block[:] = kernel.grid, kernel.block
    target.threads, target.warps, target.resident = kernel.threads, kernel.warps, resident
    target.next, target.stride = 0, machine.chip.sms
    target.end = min(kernel.blocks, count * machine.chip.sms)
    target.shared_word, target.shared_words = words, kernel.program.shared_bytes // WORD_BYTES
    target.local_word = words + resident * target.shared_words
    target.local_words = kernel.program.local_bytes // WORD_BYTES


def _buffers(sm: Any, kernel: Kernel) -> None:
    where = bases(kernel.buffers)
    sm.launch.buffers = len(kernel.buffers)
    for row, buffer in zip(sm.buffers, kernel.buffers, strict=False):
        row.start, row.end = where[buffer.name], where[buffer.name] + buffer.nbytes
