"""An SM that stands for others: its part of what the SMs bring to the L2 from the DRAM, and of what they send there.

Where one SM is simulated, or few, nobody else fills the L2 or empties it. So of each buffer the SM brings as much as
lies in the buffer for each SM; what it asks for beyond that, others bring. They have brought it before, or do so now,
in step with the SM, which then waits as they do (gpusim/launch/in_step.py). Of lines that the L2 does not keep from
launch to launch, as the kernel's buffers don't fit it, what is stored goes on to the DRAM, as it must in the long run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusim.jit.rule import count_bits, rarely, rule
from gpusim.rules import global_memory
from gpusim.rules.tags import DIRTY, TAG
from gpusim.units.capacities import WAVES
from gpusim.units.l2_share import AXIS_SETS, BEFORE, NOW, PARTS, SHIFT, SPREADING
from isa.memory import SECTOR_BYTES


@rarely
def place(sm: Any, block: Any) -> None:
    """Choose along which axes a block just placed is in step: as often as the blocks of its wave are in the mean."""
    wave = min(block.id // (sm.launch.resident * sm.launch.sms), WAVES - 1)
    block.in_step = 0
    for along in range(AXIS_SETS):
        sm.owed[along] += sm.launch.in_step[along][wave]
        if 2 * sm.owed[along] >= PARTS:
            sm.owed[along] -= PARTS
            block.in_step |= 1 << along


@rule
def ask(sm: Any, instruction: Any, slot: int) -> None:
    """Note when others bring what a load of that slot's block asks for, if that is known."""
    if sm.launch.sharers > 1 and instruction.shared_along > 0:
        sm.load_store.from_others = NOW if sm.blocks[slot].in_step >> (instruction.shared_along - 1) & 1 else BEFORE


@rule
def brings(sm: Any, line: int, units: int) -> bool:
    """Tell whether the SM itself brings these units of a line, which the L2 lacks, from the DRAM."""
    found = sm.launch.sharers <= 1
    if not found and sm.load_store.from_others != BEFORE:
        found = _in_its_part(sm, line * sm.machine.line_bytes, units)
    if found:
        sm.load_store.read += units
    return bool(found)


@rarely
def _in_its_part(sm: Any, byte: int, units: int) -> bool:
    """Tell whether the SM has not yet brought as much of the buffer at that byte as lies in it for each SM."""
    sharers = sm.launch.sharers
    for i in range(sm.launch.buffers):
        buffer = sm.buffers[i]
        if buffer.start <= byte < buffer.end:
            sm.brought[i] += units
            return bool(sm.brought[i] * SECTOR_BYTES < (buffer.end - buffer.start) // sharers + sm.machine.line_bytes)
    return True


@rule
def spilled(sm: Any, line: int) -> bool:
    """Tell whether what is stored in that line goes on to the DRAM."""
    return bool(sm.launch.passes_on and place_of(line) < sm.launch.spills)


@rule
def place_of(line: Any) -> Any:
    """Return a number below 64 that spreads lines evenly: of those below `spills` nothing is kept."""
    return (np.int64(line) * SPREADING >> SHIFT) & (PARTS - 1)


@rarely
def pass_on(sm: Any, words: Any, way: int, line: int, units: int, now: int) -> None:
    """Send those units of a line to the DRAM that are stored to for the first time."""
    before = words[way + DIRTY] if words[way + TAG] == line + 1 else 0
    fresh = count_bits(units & ~before)
    sm.load_store.written += fresh
    global_memory.commit_line(sm, line, fresh, now)
