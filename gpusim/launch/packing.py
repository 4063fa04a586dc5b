"""The machine's numbers as rules read them: the record `gpusim.state.machine.machine_t` filled in."""

from __future__ import annotations

from math import lcm
from typing import Any

import numpy as np

from gpusim.launch import caches
from gpusim.launch.decode import QUEUED, UNIT_CODE, pipe_names
from gpusim.machine.capacities import SCHEDULERS
from gpusim.machine.machine import (
    Machine,
    by_codes,
    choices,
    initiation_interval,
    line_cycles,
    pairs,
    queues,
    register_bank,
    register_banks,
    row_bytes,
    tagged,
    through_port,
    transaction_bytes,
)
from gpusim.machine.policy import POLICY_NAMES, REGISTERED, check_policy
from gpusim.state import machine as machine_record
from gpusim.state import sm as state
from gpusim.state.stall import Stall
from isa.memory import SECTOR_BYTES
from isa.register_bank import BANK_PERIOD
from isa.table import Unit

SHARE_PARTS = 64  # of a cycle, in which an SM's share of the channel is reckoned; of n shares together, 64 n


def pack(packed: Any, machine: Machine, *, flagged: bool) -> None:
    """Fill in the record of a machine's numbers; `flagged`: some source of the program is kept in the reuse cache."""
    shares = _schedulers, _shared_memory, _global_memory, _pipes, _dependence, _selection, _instruction_replay, _what_if
    for share in shares:
        share(packed, machine)
    _register_file(packed, machine, flagged=flagged)
    packed.groups = machine.limits.warp_size // state.LANES
    packed.barrier, packed.per_warp = machine.barrier.latency, machine.barrier.per_warp
    packed.branch = machine.branch.latency
    packed.block_latency = machine.launch.block_latency
    packed.warp_skew, packed.block_skew = machine.launch.warp_skew, machine.launch.block_skew


def _schedulers(packed: Any, machine: Machine) -> None:
    schedulers, issue = machine.schedulers, machine.issue
    packed.schedulers, packed.interval, packed.stagger = schedulers.count, schedulers.interval, schedulers.stagger
    packed.shift = schedulers.interval.bit_length() - 1 if schedulers.interval.bit_count() == 1 else -1
    packed.issue_interval, packed.active, packed.ports = (
        schedulers.issue_interval,
        schedulers.active,
        schedulers.dispatch_ports,
    )
    packed.policy, packed.policy_code = _policy(schedulers.policy)
    packed.rotate, packed.same_warp, packed.exclusive = issue.rotate, issue.pairing == "same-warp", _exclusive(machine)
    packed.wastes_slot, packed.retry = issue.refused_wastes_slot, issue.refused_retry
    packed.moves_pointer = issue.refused_moves_pointer


def _shared_memory(packed: Any, machine: Machine) -> None:
    """Shared memory, and the queues and ports before it."""
    shared = machine.shared_memory
    packed.queue, packed.queues = machine.load_store.queue, queues(machine)
    packed.pass_cycles, packed.passes_per_cycle = shared.pass_cycles, shared.passes_per_cycle
    packed.late_cycles, packed.late_passes = shared.pass_cycles, shared.passes_per_cycle
    if machine.memory_port:
        packed.late_cycles, packed.late_passes = machine.memory_port.late_cycles, 1
        packed.held = machine.memory_port.held
        packed.early[1:] = machine.memory_port.early_64, machine.memory_port.early_128
    if machine.memory_paths:
        packed.sharing = machine.memory_paths.schedulers
    packed.merge_halves = shared.merge_halves
    packed.shared_rule = machine_record.SHARED_RULES.index(shared.rule)
    packed.banks, packed.bank_words = shared.banks, shared.bank_bytes // 4
    packed.free_passes[:] = [getattr(shared, f"free_passes_{width}") for width in ("32", "64", "128")]


def _global_memory(packed: Any, machine: Machine) -> None:
    """Global and local memory, the caches and the channel."""
    packed.global_request = machine.global_memory.request_cycles
    packed.global_rule = machine_record.GLOBAL_RULES.index(machine.global_memory.rule)
    packed.line_bytes = machine.global_memory.line_bytes
    packed.local_request = machine.local_memory.request_cycles
    if machine.cache and machine.cache.hits != "none":
        packed.hits = machine_record.HITS.index(machine.cache.hits)
        packed.hit_late = caches.late(machine, machine.cache)
    if machine.cache and tagged(machine):
        packed.port_cost, packed.port_parts = machine.cache.l2_sector_parts, SHARE_PARTS
        caches.pack(packed, machine, machine.cache)
    packed.row_bytes = lcm(machine.global_memory.line_bytes, row_bytes(machine))
    packed.line_cost, packed.channel_parts = line_cost(machine), SHARE_PARTS


def _pipes(packed: Any, machine: Machine) -> None:
    for index, name in enumerate(pipe_names(machine)):
        packed.instance[:, index] = np.arange(SCHEDULERS) // machine.pipe[name].schedulers
        packed.pipe_interval[index] = initiation_interval(machine, name)
    for unit, code in UNIT_CODE.items():
        _unit(packed.units[code], unit, machine)
        packed.pairs[code] = sum(1 << UNIT_CODE[other] for other in pairs(machine, unit))


def _dependence(packed: Any, machine: Machine) -> None:
    if machine.dependence and by_codes(machine):
        packed.codes, packed.yield_stall = 1, machine.dependence.yield_stall
    packed.counts = machine.wait_counters is not None or machine.outstanding is not None


def _instruction_replay(packed: Any, machine: Machine) -> None:
    if machine.instruction_replay:
        packed.pass_slots = machine.instruction_replay.pass_slots
        packed.request_slots = machine.instruction_replay.request_slots
        packed.replays = packed.pass_slots + packed.request_slots > 0


def _what_if(packed: Any, machine: Machine) -> None:
    if machine.what_if:
        packed.shared_ideal = machine_record.SHARED_IDEALS.index(machine.what_if.shared_memory)
        packed.barriers_pass = machine.what_if.barriers == "pass"


def _selection(packed: Any, machine: Machine) -> None:
    """What may hold a selected warp; only a machine that obeys codes has stall counts to freeze."""
    if machine.selection:
        packed.selects, packed.freezes = 1, machine.selection.freezes and by_codes(machine)
        packed.turns = machine.selection.turns * by_codes(machine)
    packed.selection_may_wait = machine.selection is not None or register_banks(machine) > 0


def _register_file(packed: Any, machine: Machine, *, flagged: bool) -> None:
    packed.register_banks = register_banks(machine)
    if machine.register_file:
        packed.bank_of[:] = [register_bank(machine, register) for register in range(BANK_PERIOD)]
        packed.carried = machine.register_file.carried
        packed.collecting, packed.window = machine.register_file.collecting, machine.register_file.window
        packed.reuse = machine.register_file.reuse if flagged else 0


def _unit(packed: Any, unit: Unit, machine: Machine) -> None:
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
        from gpusim.jit.policy_code import code_of  # noqa: PLC0415  (Numba takes long to load)

        return len(POLICY_NAMES), code_of(name)
    return POLICY_NAMES.index(name), 0


def _exclusive(machine: Machine) -> int:
    latency = machine.unit["dp"].latency if "dp" in machine.unit else 0
    cycles = {"off": 0, "issue": machine.schedulers.interval, "flight": latency}
    return cycles[machine.double.exclusive]
