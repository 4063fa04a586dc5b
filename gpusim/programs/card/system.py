"""Memory of a program's card that functions of the system work with: what kernels print, and the heap of kernels.

Each is allocated with the first launch that needs it, as large as the program's limits then are, and stays.
"""

from __future__ import annotations

import numpy as np

from gpusim.programs.card import arena as memory
from gpusim.programs.card.arena import Arena
from gpusim.programs.card.modules import Kernel
from isa.errors import UserError
from isa.nvidia.system.buffers import HEAP, PRINTED
from isa.nvidia.system.memory import HEAP_BYTES, PRINTED_BYTES, needed, size, start
from isa.nvidia.system.printed import cleared, raw_in

NAMES = PRINTED, HEAP
DEFAULTS = {PRINTED: PRINTED_BYTES, HEAP: HEAP_BYTES}


def provide(arena: Arena, kernel: Kernel, limits: dict[str, int]) -> None:
    """Allocate what a kernel needs and is not there yet; raises UserError where memory has no room for it."""
    if kernel.system is None:
        kernel.system = needed(kernel.module.code, kernel.name)
    for name in kernel.system:
        if not any(one.name == name for one in arena.live):
            nbytes = limits.get(name, DEFAULTS[name]) // 4 * 4
            made = memory.allocate(arena, size(name, nbytes), memory.DEVICE, name=name)
            if made is None:
                raise UserError(f"{kernel.plain}: {nbytes:,} bytes for what kernels print or allocate; allocate less")
            start(arena.held[made.place : made.end].view(np.uint32), nbytes)


def taken(arena: Arena) -> bytes:
    """Return what kernels have printed since the last time, and forget it."""
    found = next((one for one in arena.live if one.name == PRINTED), None)
    if found is None:
        return b""
    words = arena.held[: found.end].view(np.uint32)
    text = raw_in(words, found.place)
    cleared(words, found.place)
    return text
