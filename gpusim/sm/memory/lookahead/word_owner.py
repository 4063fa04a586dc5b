"""Who uses each word of global memory, where SMs run ahead of each other and compute values.

This keeps SMs coherent: a value that one SM stores and another loads depends on who is first, and SMs that run ahead
don't keep that order. So each word has an owner: one SM that loads and stores it, or any SMs that only load it. Another
SM that stores it, or loads what the owner has stored, ends the run; it begins again with SMs that take turns in each
cycle. Words that textures read belong to all SMs from the start (launch/in_turn.py).
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.account.stopping import stop
from gpusim.sm.jit import atomic
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import rule
from gpusim.sm.memory.lookahead.declaration import LOADED, NOBODY, SEVERAL, STORED
from gpusim.sm.memory.memory_access import generic_address
from gpusim.sm.records import Memory, Numbers, Sm, Word
from gpusim.sm.state.fault import Fault
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.unit.opcodes import LOAD
from isa.program import WORD_BYTES

CONTESTED = int(Fault.CONTESTED)


@on_demand
def take(sm: Sm, memory: Memory, g: int, active: int) -> bool:
    """Note that the SM uses the words at the addresses in `scratch`; False: `sm.fault` says that another one does."""
    instruction = sm.program[sm.warps[g].pc]
    owners, stores = memory[sm.ahead.owners :].view(np.uint16), instruction.action != LOAD or instruction.update >= 0
    for lane in range(LANES):
        address = np.int64(sm.scratch.address[lane])
        if (active >> lane) & 1 and not generic_address.is_near(instruction, address):
            for word in range(address // WORD_BYTES, address // WORD_BYTES + instruction.words):
                if not _use(owners, word, int(sm.launch.index), stores):
                    return stop(sm, CONTESTED, g, sm.warps[g].pc)
    return True


@on_demand
def take_range(sm: Sm, memory: Memory, low: int, high: int, stores: bool) -> bool:
    """Note that the SM uses the bytes from place `low` up to before `high`; False: another one does."""
    owners = memory[sm.ahead.owners :].view(np.uint16)
    for word in range(low // WORD_BYTES, -(-high // WORD_BYTES)):
        if not _use(owners, word, int(sm.launch.index), stores):
            return False
    return True


@rule
def _use(owners: Numbers, word: int, s: int, stores: bool) -> bool:
    """Let SM s load a word, or store to it too; False: another one has, and one of the two stores."""
    while True:
        held = owners[word]
        owner = _next_owner(np.int64(held), s, stores)
        if owner == NOBODY or owner == held:  # noqa: PLR1714, SIM109  (compiled)
            return owner != NOBODY
        if atomic.replace(owners, word, held, np.uint16(owner)):
            return True


@rule
def _next_owner(held: Word, s: int, stores: bool) -> int:
    """Return the owner of a word once SM s uses it, if `held` was it before; NOBODY if SM s may not."""
    loaded, stored = LOADED + 2 * s, STORED + 2 * s
    if held == NOBODY or held == loaded or held == stored:  # noqa: PLR1714, SIM109  (compiled)
        return stored if stores or held == stored else loaded
    other_stored = held != SEVERAL and held & 1 == STORED & 1
    return NOBODY if stores or other_stored else SEVERAL
