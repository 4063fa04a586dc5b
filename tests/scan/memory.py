"""Loads and stores as a scan of every cycle (`every_cycle.py`) sees them: queues, ports and the load/store unit."""

from __future__ import annotations

from collections import Counter
from typing import Any

from executed import load_store_cost, own_cycles, replays

from gpusim.machine.machine import Machine
from gpusim.sm.memory.global_memory.declaration import line_cycles
from gpusim.sm.pipes.pipe.declaration import initiation_interval
from gpusim.sm.registers.control_code.declaration import by_codes
from gpusim.sm.unit.stall import Stall
from isa.dataflow import flow
from isa.operands.operand import Address
from isa.row import MEMORY_UNITS, Row, Unit
from scan import copies, match
from scan.apart import goes_apart
from scan.codes import fill, hold
from scan.dram import arriving, from_memory
from scan.registers import returned
from scan.requests import places, requests, updates
from scan.state import LATER, Access, Scan, Warp
from scan.write_back import comes_back, crowded

QUEUED_UNITS = MEMORY_UNITS - {Unit.TEXTURE}


def queued(sm: Scan, kind: str) -> bool:
    """Whether instructions of this kind wait for the load/store unit."""
    port = sm.machine.memory_port
    return kind in ("load", "store") or (port is not None and kind in port.units.split())


def full(sm: Scan, k: int, now: int, *, apart: bool) -> bool:
    """Whether scheduler k's queue, to shared memory or not, takes no more; served instructions count for a while."""
    kept = [when for when in sm.leaving.get(_number(sm, k, apart=apart), ()) if when > now]
    return len(_queue(sm, k, apart=apart)) + len(kept) >= sm.machine.load_store.queue


def enter(sm: Scan, k: int, warp: Warp, pc: int, active: Any, addresses: Any, now: int) -> None:
    """Put an instruction at the end of its queue; its results come when it has been served."""
    instruction = sm.kernel.program.instructions[pc]
    row = instruction.row
    memory = row.unit in MEMORY_UNITS
    idle = not active.any()
    if idle:
        costs = idles(sm.machine, row), 0, 0
    elif row.copies:
        costs = copies.cost(sm, warp, instruction, active, addresses)
    elif match.takes(sm.machine, row):
        costs = match.cost(sm, warp, pc, active)
    else:
        costs = load_store_cost(sm.machine, row, addresses, active) if memory else (_of_its_pipe(sm, pc), 0, 0)
    access = Access(warp, pc, *costs)
    access.idle = idle
    if row.copies:
        copies.join(warp, access)
    if not idle:
        again = copies.replays(sm, row, costs[0]) if row.copies else replays(sm.machine, row, addresses, active)
        sm.schedulers[k].replays += again
    if sm.caches and sm.caches.asked_by(row) and not idle:
        local = sm.kernel.program.local_bytes // 4
        where = places(warp.slot, row, addresses, active, local)
        access.requests = requests(sm.machine, row, where)
        access.updates = updates(sm.machine, where) if row.update is not None else {}
        away = row.unit is Unit.GLOBAL and row.is_load and not row.copies
        access.own = own_cycles(sm.machine, row, addresses, active) if away else 0
    warp.accesses.append(access)
    sm.entered += 1
    access.number = sm.entered
    apart = _apart(sm, pc)
    _queue(sm, k, apart=apart).append(access)
    reason = Stall.LONG_SCOREBOARD if row.unit in (Unit.GLOBAL, Unit.LOCAL) else Stall.SHORT_SCOREBOARD
    hold(sm, warp, pc, access, active, reason)
    if full(sm, k, now, apart=apart):
        fill(sm, k, warp, now)
    if not (memory and sm.machine.wait_counters):
        warp.results |= dict.fromkeys(flow.writes(instruction), (access, reason))
    for register in instruction.reads():
        warp.readers.setdefault(f"R{register}", []).append(access)


def idles(machine: Machine, row: Row) -> int:
    """Cycles of the unit for an access that no lane makes; 0: it is not queued."""
    port = machine.memory_port
    if port is None or port.skipped == 0 or row.unit not in QUEUED_UNITS or row.copies:
        return 0
    return machine.constant_cache.request_cycles if row.unit is Unit.CONSTANT else port.skipped


def takes_banks(sm: Scan, pc: int, active: Any, addresses: Any) -> Counter[int]:
    """Cycles that returning results take each register bank; those of an access at most their share of its port."""
    returns, row, time = returned(sm, pc), sm.kernel.program.instructions[pc].row, 0
    if row.unit in (Unit.SHARED, Unit.GLOBAL, Unit.LOCAL, Unit.CONSTANT):
        time = _interval(sm.machine, row, load_store_cost(sm.machine, row, addresses, active)[0])
    return Counter({b: min(n, n * time // returns.total()) if time else n for b, n in returns.items() if n})


def serve(sm: Scan, now: int) -> None:
    """Serve queues in turn, while there is one with an entry, a free port and a free unit."""
    paths, schedulers = sm.machine.memory_paths, sm.machine.schedulers.count
    count = schedulers if sm.machine.memory_port or paths else 1
    count += -(-schedulers // paths.schedulers) if paths else 0
    free = [sm.free.get(_unit(sm, sm.queues[y][0].pc), 0) if sm.queues.get(y) else 0 for y in range(count)]
    able = [y for y in range(count) if sm.queues.get(y) and max(sm.ports.get(y, 0), free[y]) <= now]
    if sm.late and max(sm.free.get(0, 0), min(access.comes for access in sm.late)) <= now:
        able.append(count)  # behind the queues
    if able and not crowded(sm, now):
        y = min(able, key=lambda y: (y - sm.turn) % (count + 1))
        sm.turn = (y + 1) % (count + 1)
        if y == count:
            _serve_late(sm, now)
        else:
            _serve(sm, y, now)
        serve(sm, now)


def _serve_late(sm: Scan, now: int) -> None:
    """Serve the load whose lines came first."""
    access = min(sm.late, key=lambda access: access.comes)
    sm.late.remove(access)
    sm.free[0] = now + access.cycles
    access.done = now + _latency_of_hit(sm, access)
    comes_back(sm, access.warp.slot % sm.machine.schedulers.count, access, now)


def _latency_of_hit(sm: Scan, access: Access) -> int:
    width = sm.kernel.program.instructions[access.pc].row.width
    return int(getattr(sm.machine.cache, f"l1_latency_{width}"))


def _serve(sm: Scan, y: int, now: int) -> None:
    access, machine = sm.queues[y].pop(0), sm.machine
    row = sm.kernel.program.instructions[access.pc].row
    own = _unit(sm, access.pc)
    held = machine.memory_port.held if machine.memory_port and not own else 0
    sm.leaving.setdefault(y, []).append(now + held)
    sm.free[own] = now + access.cycles + copies.more(sm, row)
    matches = machine.match if own == match.UNIT else None
    of_port = matches.port if matches else access.cycles if access.idle else _interval(machine, row, access.cycles)
    sm.ports[y] = now + (0 if own == 1 and machine.constant_path else of_port)
    if access.requests:
        _cached(sm, row, access, now, y, own=own)
    else:
        gone = _transfer(sm, row, access.lines, now) if row.unit is Unit.GLOBAL else now
        stores = row.unit in MEMORY_UNITS and not row.is_load
        special = own == 1 and machine.constant_path and row.unit is Unit.SPECIAL
        latency = machine.constant_path.latency if special else 0 if stores else _latency_of(machine, row, access)
        latency = matches.latency_32 if matches else latency
        access.done = max(now + access.cycles, gone) if stores else gone + latency + access.extra
        if by_codes(machine) and row.unit is Unit.SHARED and row.is_load:  # they come back in order
            access.done = access.warp.shared_back = max(access.done, access.warp.shared_back)
    if not (row.unit in MEMORY_UNITS and not row.is_load) and access not in sm.late and not access.idle:
        comes_back(sm, access.warp.slot % machine.schedulers.count, access, now)
    access.read = now + max(1, _hold(machine, row))
    agent = 1 + machine.schedulers.count
    sm.events.append((now, "serve", agent, access.warp.slot, access.warp.block, access.pc, access.cycles))


def _cached(sm: Scan, row: Row, access: Access, now: int, y: int, *, own: int) -> None:
    """Follow an access through the caches; the unit waits if too many lines are on their way."""
    assert sm.caches is not None
    extra, stage = access.extra, sm.caches.stage
    assert stage
    stage.waits = False
    if row.update is not None and sm.machine.global_atomic:
        latency = _latency(sm.machine, row)
        done, left, start = sm.caches.atomic(row, access.requests, access.updates, now, latency, access.cycles, extra)
        extra = 0
    elif row.is_load:
        named = sm.kernel.program.instructions[access.pc].operands
        banks = {operand.bank.bank for operand in named if isinstance(operand, Address) and operand.bank}
        sm.caches.asking = access.pc
        mine = access.own or access.cycles
        done, start = sm.caches.load(row, access.requests, now, access.cycles, own=mine, parameters=0 in banks)
        sm.caches.asking = -1
    else:
        sm.caches.asking = access.pc
        left, start = sm.caches.store(row, access.requests, now, access.cycles)
        sm.caches.asking = -1
    rules = sm.machine.tag_stage
    most = rules.late_asks if rules and row.width >= 32 * rules.late_words else 0
    if row.unit is Unit.GLOBAL and stage.waits and most:
        asks = min(access.cycles, most)
        sm.free[own], sm.ports[y] = now + asks, now + _interval(sm.machine, row, asks)
        access.comes, done = done + extra - _latency_of_hit(sm, access), LATER - extra
        sm.late.append(access)
    sm.free[own] += start - now
    if row.is_load:
        access.done = done + extra
        access.warp.loaded |= row.unit in (Unit.GLOBAL, Unit.LOCAL)
    else:
        access.warp.stores_left.append(left)
        access.done = sm.free[own] if sm.caches.keeps_stores else max(sm.free[own], left)


def _queue(sm: Scan, k: int, *, apart: bool) -> list[Access]:
    return sm.queues.setdefault(_number(sm, k, apart=apart), [])


def _number(sm: Scan, k: int, *, apart: bool) -> int:
    paths = sm.machine.memory_paths
    if paths and apart:
        return sm.machine.schedulers.count + k // paths.schedulers
    return k if sm.machine.memory_port or paths else 0


def _apart(sm: Scan, pc: int) -> bool:
    return goes_apart(sm.machine, sm.kernel.program.instructions[pc])


def _unit(sm: Scan, pc: int) -> int:
    """The unit that serves an instruction: 1 that of shared memory or constants, where that lies apart, 2 MATCH's."""
    return match.UNIT if match.takes(sm.machine, sm.kernel.program.instructions[pc].row) else int(_apart(sm, pc))


def _of_its_pipe(sm: Scan, pc: int) -> int:
    machine, row = sm.machine, sm.kernel.program.instructions[pc].row
    if machine.constant_path and _apart(sm, pc):
        return machine.constant_path.cycles
    return initiation_interval(machine, machine.unit[row.unit].pipe.split()[0])


def _interval(machine: Machine, row: Row, cycles: int) -> int:
    """Cycles of the port: those of the unit, and more for stores."""
    port, paths = machine.memory_port, machine.memory_paths
    if paths and row.unit is Unit.SHARED:
        least = 0 if row.is_load else int(getattr(paths, f"shared_store_{row.width}"))
        return max(least, paths.shared_load * cycles)
    if paths:
        return int(getattr(paths, f"load_{row.width}")) if row.is_load else paths.store
    if port is None or (row.unit is Unit.SPECIAL and port.special):
        return port.special if port else 0
    by_width = {32: port.store_32, 64: port.store_64, 128: port.store_128}.get(row.width, 0)
    stores = {Unit.SHARED: by_width, Unit.LOCAL: by_width, Unit.GLOBAL: port.global_store}
    if row.update is not None and (machine.shared_atomic if row.unit is Unit.SHARED else machine.global_atomic):
        atomic = machine.shared_atomic if row.unit is Unit.SHARED else None
        return max(port.cycles * cycles, atomic.port) if atomic else max(cycles, port.global_store)
    if row.unit is Unit.GLOBAL and row.is_load and machine.cache and machine.cache.hits == "l2":
        return cycles
    return max(port.cycles * cycles, 0 if row.is_load else stores.get(row.unit, 0))


def _latency(machine: Machine, row: Row) -> int:
    cache = machine.cache
    if row.update is not None and (machine.shared_atomic if row.unit is Unit.SHARED else machine.global_atomic):
        return _atomic_latency(machine, row)
    if row.unit is Unit.GLOBAL and cache and cache.hits != "none":
        return int(getattr(cache, f"{cache.hits}_latency_{row.width}"))
    if row.unit is Unit.SHARED:
        return int(getattr(machine.shared_memory, f"latency_{row.path_width}"))
    if row.unit is Unit.LOCAL:
        return machine.local_memory.latency
    if row.unit is Unit.CONSTANT and machine.constant_cache:
        return machine.constant_cache.latency
    return from_memory(machine) if row.unit is Unit.GLOBAL else machine.unit[row.unit].latency


def _latency_of(machine: Machine, row: Row, access: Access) -> int:
    return machine.memory_port.skipped_latency if access.idle else _latency(machine, row)


def _atomic_latency(machine: Machine, row: Row) -> int:
    """Cycles to the old value; what lies behind the L2 adds as much as to a load."""
    shared, away, cache = machine.shared_atomic, machine.global_atomic, machine.cache
    if row.unit is Unit.SHARED:
        assert shared
        return shared.swap_latency if "b" in row.form else shared.add_latency
    assert away
    behind = from_memory(machine) - cache.l2_latency_32 if cache and cache.hits == "none" else 0
    return away.latency + max(0, behind)


def _hold(machine: Machine, row: Row) -> int:
    """Cycles from service until the sources may be overwritten."""
    port, shared = machine.memory_port, machine.shared_memory
    if row.update is not None and row.unit is Unit.SHARED and machine.shared_atomic:
        return machine.shared_atomic.war
    if row.unit in (Unit.LOCAL, Unit.CONSTANT):
        return 0
    if row.unit is Unit.GLOBAL:
        loads = row.is_load and row.update is None
        return port.war_global_store if port and not loads else machine.global_memory.war
    if row.unit is not Unit.SHARED:
        return shared.war_32
    return port.war_store if port and not row.is_load else int(getattr(shared, f"war_{row.path_width}"))


def _transfer(sm: Scan, row: Row, lines: int, now: int) -> int:
    """The cycle at which the channel has moved so many lines."""
    if lines == 0:
        return now
    cache, memory = sm.machine.cache, sm.machine.memory
    if cache and cache.hits != "none":
        return _occupied(sm, lines * cache.l2_sector_parts, now)
    cost = round(64 * line_cycles(sm.machine))
    if memory and not row.is_load:
        cost = round(cost * memory.written / 1000)
    return _occupied(sm, lines * cost, now)


def _occupied(sm: Scan, parts: int, now: int) -> int:
    """The cycle at which the channel is free, if it is occupied for so many parts of a cycle more from now on."""
    sm.channel = max(sm.channel, 64 * now) + parts
    return -(-sm.channel // 64)


def read_at(sm: Scan, warp: Warp, pc: int, active: Any, addresses: Any, now: int) -> int | None:
    """The cycle at which the data of a texture fetch has come, and of a scalar load that asks tags; else None."""
    row = sm.kernel.program.instructions[pc].row
    if row.unit is Unit.TEXTURE:
        where = places(warp.slot, row, addresses, active, 0)
        return sm.caches.fetch(requests(sm.machine, row, where), now) if sm.caches else _fetched(sm, where, now)
    if sm.caches and row.unit is Unit.SMEM:
        return sm.caches.load_scalars(int(addresses[active][0]), row.nbytes, now)
    return None


def _fetched(sm: Scan, where: list[list[int | None]], now: int) -> int:
    """The cycle at which a fetch has the elements at these bytes, lane group by lane group, where no tags are kept."""
    sectors = sum(len({byte // 32 for byte in group if byte is not None}) for group in where)
    cache, chip = sm.machine.cache, sm.machine.chip
    from_memory = round(64 * 32 * chip.sms * chip.shader_mhz / arriving(sm.machine))
    costs = {"none": from_memory, "l1": 0, "l2": cache.l2_sector_parts if cache else 0}
    cost = costs[cache.hits if cache else "none"]
    return (_occupied(sm, sectors * cost, now) if cost else now) + sm.machine.texture.latency
