"""Fences in the scan of every cycle: when one issues, and until when it holds its warp."""

from __future__ import annotations

from isa.nvidia.rows.control import CHIP, SYSTEM
from scan.state import Scan, Warp


def cycles_of(sm: Scan, pc: int) -> int:
    """Cycles that the instruction at pc holds its warp as a fence at least; 0: it is none."""
    fence, code = sm.machine.fence, sm.kernel.program.instructions
    if fence is None or pc >= len(code) or not code[pc].row.mnemonic.startswith("MEMBAR"):
        return 0
    return {CHIP: fence.gpu, SYSTEM: fence.system}.get(code[pc].row.code, 0)


def hold(sm: Scan, warp: Warp, pc: int, now: int) -> None:
    """The warp's next memory access, branch or barrier waits until the fence is over."""
    fence, cycles = sm.machine.fence, cycles_of(sm, pc)
    if fence is None or not cycles or (warp.groups and warp.groups.others):
        return
    behind_loads = fence.loads if warp.loaded and cycles == fence.gpu else 0
    over = [now + cycles + behind_loads, *[left + fence.stores for left in warp.stores_left]]
    warp.barrier, warp.loaded = max(warp.barrier, *over), False
