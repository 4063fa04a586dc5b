"""The next cache of constants, behind that of the SM: it has what came to it together."""

from __future__ import annotations

from gpusim.sm.jit.rule import rule
from gpusim.sm.memory.cache import tags
from gpusim.sm.memory.cache.declaration import CONSTANTS
from gpusim.sm.memory.cache.tags import TAG
from gpusim.sm.records import Numbers, Row, Sm


@rule
def has(sm: Sm, words: Numbers, instruction: Row, line: int) -> bool:
    """Tell whether the next constant cache has a line: its other sectors, or its neighbours, were asked for before."""
    if instruction.parameters or sm.machine.next_constants == 0:
        return bool(sm.machine.next_constants)
    cache, first = sm.launch.caches[CONSTANTS], line - line % sm.machine.next_lines
    for other in range(first, first + sm.machine.next_lines):
        if words[tags.way(words, cache, other) + TAG] == other + 1:
            return True
    return False
