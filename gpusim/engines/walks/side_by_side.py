"""Blocks in program order on several threads: the same results, as long as no block meets the words of another.

Each thread takes the blocks of some SMs. As for SMs that run ahead of each other, words of global memory have owners
(gpusim/sm/memory/lookahead/word_owner.py). If a word is stored by one SM and used by another, the order of blocks may
matter: then all are walked again, one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks import program_order
from gpusim.engines.walks.program_order import Walked, Walker
from gpusim.engines.walks.several_blocks import run_blocks
from gpusim.launch.in_turn import InTurnError
from isa.errors import UserError
from isa.kernel import Kernel
from isa.memory import Held


def walk(
    kernel: Kernel,
    blocks: Sequence[int],
    left: NDArray[np.uint32] | Held,
    threads: int,
    resident: int | None = None,
) -> Walked:
    """Run blocks on so many threads, on memory as others have `left` it; otherwise as `program_order.walk`."""
    if threads > 1 and kernel.cluster_blocks == 1 and kernel.sms >= threads:
        before = left.words[: left.used].copy() if isinstance(left, Held) else left
        one = program_order.walker(kernel, left, again=False, threads=threads)
        if _run(one, blocks):
            return one.state()
        if isinstance(left, Held):
            one.launch.memory[left.used :] = 0
            left.words[: left.used] = before
    if kernel.cluster_blocks > 1:
        return program_order.walk(kernel, blocks, left=left)
    alone = program_order.walker(kernel, left, again=False)
    run_blocks(alone, blocks, resident=resident)
    return alone.state()


def _run(one: Walker, blocks: Sequence[int]) -> bool:
    """Run each block on the thread of its SM; False: blocks meet, or one has an error, which program order tells."""
    stop, threads = Event(), len(one.each)

    def part(thread: int) -> bool:
        own = [block for block in blocks if block % one.kernel.sms % threads == thread]
        try:
            return run_blocks(_of_thread(one, thread), own, stop.is_set)
        except (InTurnError, UserError):
            stop.set()
            return False

    with ThreadPoolExecutor(threads) as pool:
        done = [pool.submit(part, thread) for thread in range(threads)]
        try:
            return all(each.result() for each in done)
        finally:
            stop.set()


def _of_thread(one: Walker, thread: int) -> Walker:
    """Return what runs blocks on one thread."""
    each, sms, away = one.each[thread : thread + 1], one.sms[thread : thread + 1], one.away[thread : thread + 1]
    return replace(one, each=each, sms=sms, away=away, group=np.zeros_like(one.group))
