"""What a block executes at least, in whatever order warps run, if this order decides its branches or addresses.

A loop that retries an atomic, a queue that blocks take work from, or a wait for another warp's store takes another path
in another order; a profile in program order is one of many. Work that does not depend on the order counts as profiled.
A loop that does counts once for each arrival. An access whose addresses do, or whose lanes may come in other groups,
counts as an access of one lane, the cheapest there is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.profile import Pattern, Profile
from isa.dataflow.at_least import at_least
from isa.dataflow.memory.order_dependence import Varying, may_vary, varying
from isa.kernel import Kernel
from isa.operands.operand import PT

LOOKED_AT = 200_000  # warp instructions of all blocks up to which words that others write are looked for


def order_of(kernel: Kernel, blocks: Sequence[int] | None, executed: int) -> Varying | None:
    """Return what varies with the order of the warps of these blocks, which run together; None if nothing does.

    `executed`: warp instructions of one of them. If they are many, or barriers order nothing (None), every load counts
    to whose memory the program stores.
    """
    sources = may_vary(kernel)
    if sources and blocks is not None and executed * len(blocks) <= LOOKED_AT:
        from gpusim.engines.walks.contended import contended  # noqa: PLC0415  (start-up time)

        sources = contended(kernel, blocks, sources, LOOKED_AT)
    return varying(kernel, sources) if sources else None


def least(kernel: Kernel, order: Varying, profiled: Profile) -> Profile:
    """Return the least that a block does in any order of warps, from what it did in one."""
    threads = _threads(kernel, order, profiled)
    lanes = min(kernel.warp_size, kernel.threads)
    moved = order.counts | order.apart
    counts, active = profiled.counts.copy(), profiled.active.copy()
    for pc, i in enumerate(kernel.program.instructions):
        if pc in moved:
            counts[pc] = -(-threads[pc] // lanes)
            unsure = pc in order.counts or i.row.is_branch
            active[pc] = (
                threads[pc] if i.guard == PT else 0 if unsure else _guarded(threads[pc], int(active[pc]), lanes)
            )
        if pc in order.guards:
            active[pc] = 0
    accesses = {pc: _accesses(kernel, order, profiled, pc, int(active[pc]), lanes) for pc in profiled.accesses}
    copied = profiled.copied.copy()
    copied[:, [*(moved | order.guards | order.addresses)]] = 0
    some = {pc: each for pc, each in accesses.items() if each}
    return replace(profiled, counts=counts, active=active, copied=copied, accesses=some)


def _threads(kernel: Kernel, order: Varying, profiled: Profile) -> Mapping[int, int]:
    """Return by pc how often lanes execute what the order moves, in any order; all lanes together."""
    known = {
        pc: int(profiled.active[pc])
        for pc in range(len(kernel.program))
        if pc not in order.counts and pc not in order.guards
    }
    return at_least(kernel.program, order.counts | order.apart, known)


def _guarded(threads: int, active: int, lanes: int) -> int:
    """Return in how many lanes a guard holds, if lanes come in other groups.

    If it does not hold in all lanes, some group may have no such lane, so lanes count up to one group less than all.
    """
    return active if active == threads else min(active, (-(-threads // lanes) - 1) * lanes)


def _accesses(
    kernel: Kernel, order: Varying, profiled: Profile, pc: int, active: int, lanes: int
) -> tuple[Pattern, ...]:
    """Return the least accesses of an instruction."""
    patterns = profiled.accesses[pc]
    moved = pc in order.counts or pc in order.apart
    if not moved and pc not in order.guards and pc not in order.addresses:
        return patterns
    if kernel.program.leaves_global and kernel.program.instructions[pc].row.generic:
        return ()
    executions = (
        -(-active // lanes) if moved or pc in order.guards else sum(p.count for p in patterns if p.active.any())
    )
    return (_of_one_lane(kernel.warp_size, executions),) if executions else ()


def _of_one_lane(lanes: int, executions: int) -> Pattern:
    active: NDArray[np.bool_] = np.arange(lanes) == 0
    return Pattern(np.zeros(lanes, np.uint32), active, executions)
