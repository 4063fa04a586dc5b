"""What a warp that issues a matrix instruction leaves for later: its descriptors, in an effect.

Its operands are read and its result is written when the tensor cores do it (`product.py`), so an accumulator that is
read before its group is waited for, or a place in shared memory that is overwritten too early, gives what it would on
the chip.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.effects import effects
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.records import Sm

A, B, C = range(3)  # places of the sources of a row
WORDS = 4  # of two descriptors


@on_demand
def post(sm: Sm, g: int) -> bool:
    """Post what warp slot g's instruction will do, with the words of its descriptors; False: `sm.fault` says why not.

    Where A is in registers, the instruction has one descriptor, that of B: it comes second here too.
    """
    pc = sm.warps[g].pc
    instruction = sm.program[pc]
    if not effects.has_room(sm, g, pc):
        return False
    effect, registers = effects.post(sm, g, pc), sm.lanes[g * sm.machine.groups].registers
    skipped = 2 if instruction.from_registers else 0
    for word in range(WORDS):
        source = instruction.source[B] + word - skipped
        known = word >= skipped and instruction.source[B] >= 0
        effect.values[0, word, 0] = registers[source, 0] if known else np.uint32(0)
    effect.truth[0] = 1
    if instruction.selector >= 0:
        held = sm.lanes[g * sm.machine.groups].predicates[instruction.selector] & 1
        effect.truth[0] = held ^ instruction.selector_negated
    return True
