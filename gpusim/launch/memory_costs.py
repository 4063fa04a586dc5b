"""Costs of an instruction's access on a machine: latency, time until its sources are read, the cache it asks."""

from __future__ import annotations

from gpusim.machine.machine import Machine
from gpusim.sm.memory.cache.declaration import (
    CONSTANTS,
    FAR,
    NEAR,
    SCALARS,
    TEXTURES,
    ConstantCache,
    ReadCache,
    memory_latency,
    tagged,
)
from gpusim.sm.memory.global_memory.declaration import atomic_latency
from isa.row import Row, Unit


def memory_costs(form: Row, machine: Machine) -> tuple[int, int]:
    """Return the cycles from service to a load's result, and until the source registers may be overwritten."""
    shared, port = machine.shared_memory, machine.memory_port
    if form.unit is Unit.GLOBAL:
        loads = form.is_load and form.update is None
        war = machine.global_memory.war if loads or port is None else port.war_global_store
        return _global_latency(form, machine), war
    if form.unit is Unit.LOCAL:
        return machine.local_memory.latency, 0
    if form.unit is Unit.CONSTANT and machine.constant_cache:
        return machine.constant_cache.latency, 0
    war = getattr(shared, f"war_{form.path_width}") if form.is_load or port is None else port.war_store
    return getattr(shared, f"latency_{form.path_width}"), war


def _global_latency(form: Row, machine: Machine) -> int:
    cache = machine.cache
    if form.update is not None and machine.global_atomic:
        return atomic_latency(machine)
    if cache is None or cache.hits == "none" or not form.is_load:
        return memory_latency(machine)
    level = {1 + NEAR: "l1", 1 + FAR: "l2"}.get(cached_in(form, machine), cache.hits)
    return int(getattr(cache, f"{level}_latency_{form.path_width}"))


def cached_in(form: Row, machine: Machine) -> int:
    """The cache that accesses of an instruction ask first, counted from 1; 0 if none keeps tags of them."""
    if not tagged(machine):
        return 0
    read = {Unit.TEXTURE: TEXTURES, Unit.SMEM: SCALARS, Unit.CONSTANT: CONSTANTS}
    if form.unit in read and read_cache(form.unit, machine):
        return 1 + read[form.unit]
    asked = {
        Unit.GLOBAL: 1 + (NEAR if machine.l1 and machine.l1.global_loads and not form.bypasses else FAR),
        Unit.LOCAL: 1 + NEAR if machine.l1 else 0,
        Unit.TEXTURE: 1 + FAR,  # where it has no cache of its own
    }
    return asked.get(form.unit, 0)


def read_cache(unit: Unit, machine: Machine) -> ReadCache | ConstantCache | None:
    """The cache of a unit class that is only read, if there is one."""
    caches = {
        Unit.TEXTURE: machine.texture_cache,
        Unit.SMEM: machine.scalar_cache,
        Unit.CONSTANT: machine.constant_cache,
    }
    return caches.get(unit)
