"""Fetches by texture objects: the texels around each lane's coordinates, and what a fetch gives of them.

A filter takes up to eight texels, the corners around a point. Each corner moves the sectors of the lanes' texels there:
a sector that two corners share counts twice where no cache has tags. Rows of texels lie one behind the other, as in
linear memory; the blocks in which an array's texels lie on a GPU are not known.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.account.stopping import stop
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import rule
from gpusim.sm.memory import versions
from gpusim.sm.memory.cache import cache
from gpusim.sm.memory.global_memory import global_memory
from gpusim.sm.records import Memory, Row, Sm
from gpusim.sm.state.fault import Fault
from gpusim.sm.unit.capacities import LANES
from isa.values.texture import texture as definition

NO_TEXTURE, WRONG_TEXTURE = int(Fault.NO_TEXTURE), int(Fault.WRONG_TEXTURE)
CORNERS = 8
ASKS = definition.ASKS
_texel, _fetched, _other_axes = rule(definition.texel), rule(definition.fetched), rule(definition.other_axes)


@on_demand
def ask(sm: Sm, memory: Memory, g: int, group: int, active: int) -> bool:
    """Count the sectors of a lane group's fetch, or ask the tags that there are; false: a handle is none."""
    instruction = sm.program[sm.warps[g].pc]
    if not _handles(sm, instruction, g, group, active):
        return False
    code = int(instruction.fetches) - 1
    if code & ASKS or not (instruction.cached or sm.machine.fetch_cost):
        return True
    for corner in range(CORNERS):
        if corner < definition.corners(code):
            there = _corner(sm, code, active, corner)
            if there and instruction.cached:
                cache.fetch(sm, memory, instruction, there)
            elif there:
                sm.outcome.transactions += global_memory.sectors(sm, there)
    return True


@on_demand
def located(sm: Sm, code: int, active: int, corner: int) -> int:
    """Set the address of each lane's texel at a corner; return the mask of lanes that have one.

    It is after `ask`, which sets handles; 0 if the fetch has no such corner.
    """
    return int(_corner(sm, code, active, corner)) if corner < definition.corners(code) else 0


@rule
def _corner(sm: Sm, code: int, active: int, corner: int) -> int:
    """Set the address of each lane's texel at a corner; return the mask of the lanes that have one."""
    scratch, there = sm.scratch, 0
    for lane in range(LANES):
        if (active >> lane) & 1:
            place = _one_texel(sm, code, lane, corner)
            if place >= 0:
                scratch.address[lane] = np.uint32(place & ~3)
                there |= 1 << lane
    return there


@rule
def _one_texel(sm: Sm, code: int, lane: int, corner: int) -> int:
    scratch = sm.scratch
    handle = np.int64(scratch.handle[lane])
    return int(_texel(sm.textures, handle, scratch.a[0, lane], scratch.b[0, lane], scratch.c[0, lane], code, corner))


@rule
def _handles(sm: Sm, instruction: Row, g: int, group: int, active: int) -> bool:
    """Set each lane's handle, 0 of those that are not active; the first that is none, or does not fit, is the fault."""
    scratch = sm.scratch
    for lane in range(LANES):
        scratch.handle[lane] = 0
        if (active >> lane) & 1:
            known = instruction.handle < 0
            own = 0 if known else np.int64(sm.lanes[group].registers[instruction.handle, lane])
            handle = np.int64(instruction.known_handle) if known else own
            none = handle < 1 or handle > sm.launch.textures
            if none or _other_axes(sm.textures, handle, int(instruction.fetches) - 1):
                whole = (group - g * sm.machine.groups) * LANES + lane
                return stop(sm, NO_TEXTURE if none else WRONG_TEXTURE, g, sm.warps[g].pc, whole, int(handle))
            scratch.handle[lane] = handle
    return True


@on_demand
def fetch(sm: Sm, memory: Memory, g: int, group: int, active: int) -> None:
    """Fetch into the registers of a lane group whose coordinates and handles are in `scratch`."""
    instruction = sm.program[sm.warps[g].pc]
    code, count = int(instruction.fetches) - 1, 0
    for channel in range(4):
        if (np.int64(instruction.number) >> channel) & 1:
            first = instruction.destination if count < 2 else instruction.upper - 2
            if first >= 0:
                _channel(sm, memory, group, code, channel, first + count, active)
                versions.new_version(sm, g, first + count)
            count += 1


@rule
def _channel(sm: Sm, memory: Memory, group: int, code: int, channel: int, register: int, active: int) -> None:
    scratch, registers = sm.scratch, sm.lanes[group].registers
    for lane in range(LANES):
        if (active >> lane) & 1:
            handle, x, y, z = np.int64(scratch.handle[lane]), scratch.a[0, lane], scratch.b[0, lane], scratch.c[0, lane]
            registers[register, lane] = _fetched(sm.textures, handle, memory, x, y, z, code, channel)
