"""What an access of a lane group costs: cycles of the load/store unit, transactions, cycles beyond the latency."""

from __future__ import annotations

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.memory.cache.declaration import L1, SHARE_PARTS, TAGS
from gpusim.sm.memory.global_memory import global_memory, side_by_side
from gpusim.sm.memory.memory_access import generic_address
from gpusim.sm.memory.shared_memory import shared_memory
from gpusim.sm.memory.tag_stage import tag_stage
from gpusim.sm.memory.what_if import ONE_PASS
from gpusim.sm.records import Feed, MachineNumbers, Outcome, Row, Sm
from gpusim.sm.unit.opcodes import FETCH, GLOBAL_MEMORY, LOAD, LOCAL_MEMORY, SHARED_MEMORY, STORE


@rarely
def cost(sm: Sm, instruction: Row, into: Feed | Outcome, active: int) -> None:
    """Set the cycles of the load/store unit, and the global transactions, of a lane group's access or fetch.

    Those of shared memory are counted as if no cycle had several passes, because costs of groups add up: see `service`.
    """
    machine, words = sm.machine, instruction.words
    into.cycles = into.transactions = 0
    if instruction.pipe >= 0:
        if instruction.action == FETCH and machine.fetch_cost:
            into.transactions = global_memory.sectors(sm, active)
        return  # a fetch or a scalar load takes another path
    if instruction.distinct:
        into.cycles = global_memory.words(sm, active) * instruction.distinct
    elif instruction.memory_kind == SHARED_MEMORY:
        passes = _passes(sm, instruction, active)
        into.cycles = passes * machine.pass_cycles
    elif instruction.memory_kind == GLOBAL_MEMORY:
        gathered = machine.side_by_side and instruction.packets == 0
        if gathered:
            side_by_side.gather(sm, instruction, active)
        requests, moved = global_memory.transactions(sm, active, words)
        into.cycles = requests * machine.global_request
        if machine.near_lines and instruction.through_l1:
            lines = tag_stage.lookups(machine, requests)
            into.cycles = max(shared_memory.conflicts(sm, active, words), lines) * machine.global_request
        elif instruction.action == STORE and machine.tag_stages and instruction.packets == 0:
            looked_up = tag_stage.lookups(machine, requests) if requests else 0
            into.cycles = max(shared_memory.conflicts(sm, active, words), looked_up) * machine.global_request
        if instruction.packets and machine.slices and instruction.action == STORE:
            into.cycles = machine.global_request  # its packets wait on their way (l2_atomic.py)
        elif instruction.packets:
            parts = global_memory.packets(sm, active, instruction) * machine.packet_parts
            into.cycles = max(into.cycles, (parts + SHARE_PARTS - 1) // SHARE_PARTS)
        still = machine.hits == TAGS or (machine.hits == L1 and instruction.action == LOAD and instruction.update < 0)
        into.transactions = 0 if still else moved
        if gathered:
            side_by_side.spread(sm)
    else:
        into.cycles = words * machine.local_request


@on_demand
def generic_cost(sm: Sm, instruction: Row, into: Feed, active: int) -> None:
    """Set the cost of an access by generic addresses: the sum over its memories; `near` is when those results come."""
    shared = generic_address.lanes_in(sm.scratch, SHARED_MEMORY, active)
    local = generic_address.lanes_in(sm.scratch, LOCAL_MEMORY, active)
    far, into.near, near_cycles = active & ~shared & ~local, 0, 0
    into.cycles = into.transactions = into.extra = 0
    if far:
        cost(sm, instruction, into, far)
        into.extra = extra(sm.machine, instruction, into.cycles)
    else:
        into.extra = -instruction.latency
    if local:
        near_cycles = instruction.words * sm.machine.local_request
        into.near = instruction.local_latency
    if shared and sm.launch.cluster > 1:
        elsewhere = generic_address.peer_lanes(sm, shared)
        if elsewhere:
            near_cycles += _peer_cost(sm, instruction, into, elsewhere)
            shared &= ~elsewhere
    if shared:
        passes = _shared_passes(sm, instruction, instruction.near_turns, shared)
        near_cycles += service_of(sm.machine, passes * sm.machine.pass_cycles)
        late = extra_of_shared(sm.machine, instruction, passes * sm.machine.pass_cycles)
        into.near = max(into.near, instruction.shared_latency + late)
    into.cycles += near_cycles


@rarely
def _peer_cost(sm: Sm, instruction: Row, into: Feed, lanes: int) -> int:
    """Return the cycles of the unit for lanes that access other blocks of the cluster; `near` is when results come."""
    machine, latency = sm.machine, sm.machine.cluster_load
    passes = _shared_passes(sm, instruction, instruction.near_turns, lanes)
    cycles = service_of(machine, passes * machine.pass_cycles)
    if instruction.update >= 0:
        cycles, latency = max(cycles, machine.cluster_atomic_cycles), machine.cluster_atomic
    into.near = max(into.near, latency + extra_of_shared(machine, instruction, passes * machine.pass_cycles))
    return int(cycles)


@rule
def _passes(sm: Sm, instruction: Row, active: int) -> int:
    """Return the passes through shared memory; an atomic may take several for each lane in turn."""
    return _shared_passes(sm, instruction, instruction.turns, active)


@rule
def _shared_passes(sm: Sm, instruction: Row, turns: int, active: int) -> int:
    if instruction.matrices:
        return shared_memory.of_matrices(sm, active, instruction.matrices)
    if turns and sm.machine.shared_ideal != ONE_PASS:
        return shared_memory.turns(sm, active) * int(turns)
    return shared_memory.passes(sm, active, instruction.words, instruction.action == LOAD)


@rule
def service(machine: MachineNumbers, instruction: Row, cycles: int) -> int:
    """Return the whole cycles for which an access of such a cost keeps the unit; one may hold several passes."""
    if instruction.memory_kind == SHARED_MEMORY:
        cycles = service_of(machine, cycles)
    return max(cycles, machine.least_cycles) if cycles and not instruction.distinct else cycles


@rule
def service_of(machine: MachineNumbers, cycles: int) -> int:
    """Return the whole cycles for which passes through shared memory keep the unit."""
    if machine.passes_per_cycle > 1:
        return (cycles + machine.passes_per_cycle - 1) // machine.passes_per_cycle
    return cycles


@rule
def extra(machine: MachineNumbers, instruction: Row, cycles: int) -> int:
    """Return the cycles that an access of such a cost adds to the latency."""
    if instruction.memory_kind == SHARED_MEMORY:
        return extra_of_shared(machine, instruction, cycles)
    if instruction.distinct:
        return of_distinct(instruction, cycles)
    if instruction.packets:
        return cycles
    if instruction.memory_kind == GLOBAL_MEMORY and instruction.action == LOAD:
        together = machine.near_lines and instruction.through_l1 and machine.hits != TAGS
        least = machine.near_least if together else 1
        return (cycles // (machine.global_request * least) - 1) * machine.hit_late
    return 0


@rule
def of_distinct(instruction: Row, cycles: int) -> int:
    """Return the cycles that distinct words or values beyond the first one add to the latency."""
    return int((cycles // instruction.distinct - 1) * instruction.later)


@rule
def extra_of_shared(machine: MachineNumbers, instruction: Row, cycles: int) -> int:
    """Return the cycles that passes through shared memory add to the latency."""
    beyond = cycles // machine.pass_cycles - machine.free_passes[instruction.width]
    if beyond < 0:
        return -machine.early[instruction.width]
    return (beyond + machine.late_passes - 1) // machine.late_passes * machine.late_cycles
