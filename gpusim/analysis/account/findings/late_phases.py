"""Copies that arrive late at barriers in shared memory: what waiting for their phases costs, and what would help.

A warp waits once for each tile. Copies that are asked for one stage earlier have the time of a tile more, so the stages
that hide the wait follow from the run: the copies under way times the wait over what a tile takes without it. No number
of stages brings bytes faster than the copy engine, the L2 and the DRAM do.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

import numpy as np

from gpusim.analysis.account.findings.finding import Finding, lines, named
from gpusim.analysis.account.rates.memory_rates import dram_busy, l2_busy
from gpusim.simulation.result import Result
from gpusim.sm.memory.cache.declaration import SHARE_PARTS
from gpusim.support.plural import plural
from isa.memory import SECTOR_BYTES
from isa.row import Bulk, Signal

ORDINALS = "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"
FEWER = "larger tiles or by multicast in a cluster"
FULL = 0.8  # part of the time from which on a unit is what copies wait for
RELEASED, COPIED = range(2)  # phases that arrivals end, and copies


def late_phases(result: Result, share: float) -> Iterator[Finding]:
    """Yield what waits for phases that copies end cost, but the first of each warp; `share` is the tensor pipe's."""
    pcs, waited = waiting(result), late(result)
    if pcs and waited > 0:
        where = f"{named(result.kernel.program, pcs)}{lines(result.kernel.program, pcs)}"
        what = f"tensor pipe {100 * share:.0f} % busy: copies arrive late, for which {where} waits"
        saved = min(1 - share, waited / max(1, int(result.run.stalls.sum())), 1 - max(_busy(result).values()))
        yield Finding("tensor pipe", saved, "likely", what, _sooner(result, waited), pcs)


def waiting(result: Result) -> tuple[int, ...]:
    """Return the waits for phases that copies have ended, the costliest first."""
    copied = result.run.awaited[:, COPIED]
    return tuple(int(pc) for pc in np.argsort(-copied, kind="stable") if copied[pc])


def late(result: Result) -> int:
    """Return the warp-cycles of these waits but the first of each warp, which counts as a copy from the L2."""
    run, machine = result.run, result.machine
    each = max((int(run.issued[pc]) for pc in waiting(result)), default=0)
    engine = machine.copy_engine
    latency = engine.start + engine.map + engine.latency if engine else 0
    return max(0, int(run.awaited[:, COPIED].sum()) - min(result.kernel.warps * run.blocks, each) * latency)


def stages(result: Result) -> int:
    """Return how many barriers, one for each stage, a block's copies come to."""
    masks = [int(result.run.stages[pc]) for pc in waiting(result)]
    most = max((mask.bit_count() for mask in masks), default=0)
    return most if most > 1 else int(np.bitwise_or.reduce([*masks, 0])).bit_count()  # one for each wait: unrolled


def _sooner(result: Result, waited: int) -> str:
    """Return how copies would arrive sooner: by fewer bytes, earlier commands, or more stages."""
    busy = _busy(result)
    name = max(busy, key=lambda one: busy[one])
    if busy[name] >= FULL:
        return f"the {name} is busy {100 * busy[name]:.0f} %: bring fewer bytes for each product, by {FEWER}"
    releases = _releases(result)
    if releases and not result.run.awaited[releases, RELEASED].sum():
        return "all stages are never full: ask for copies earlier, or do less between two of them"
    return _more(result, waited, busy[name], name, consumed=not releases)


def _more(result: Result, waited: int, busy: float, name: str, *, consumed: bool) -> str:
    """Return how many more stages would hide the wait, or what remains when another unit is busy all the time.

    `consumed`: who asks for copies has no barrier of its own for that, and so waits until a stage has been used up.
    """
    times = max(1, sum(int(result.run.issued[pc]) for pc in waiting(result)))
    each, wait, now = int(result.run.stalls.sum()) / times, waited / times, stages(result)
    least = max(1.0, each - wait, busy * each)
    more = max(1, ceil(max(1, now - consumed) * (each - least) / least))
    full = least > max(1.0, each - wait)
    hides = "would hide all but what the " + name + " takes" if full else "would hide it"
    if more == 1 and 0 < now < len(ORDINALS):
        return f"a {ORDINALS[now]} stage {hides}, if its buffers fit"
    return f"{plural(more, 'more stage')} {hides}, if the buffers fit"


def _releases(result: Result) -> list[int]:
    """Return the waits that were executed for phases that no copy has ended: for room, by who asks for copies."""
    rows, run = result.kernel.program.instructions, result.run
    return [
        pc
        for pc, one in enumerate(rows)
        if one.row.signal is Signal.AWAIT and run.issued[pc] and not run.awaited[pc, COPIED]
    ]


def _busy(result: Result) -> dict[str, float]:
    return {"copy engine": engine_busy(result), "L2": l2_busy(result), "DRAM": dram_busy(result)}


def engine_busy(result: Result) -> float:
    """Return the part of the time in which the copy engine asked for bytes, or sent them."""
    run, engine, rows = result.run, result.machine.copy_engine, result.kernel.program.instructions
    if engine is None:
        return 0.0
    parts = {Bulk.STORE: engine.store_parts, Bulk.REDUCE: engine.reduce_parts}
    taken = sum(int(run.copied[pc]) * parts.get(one.row.bulk, engine.load_parts) for pc, one in enumerate(rows))
    return taken / (SHARE_PARTS * SECTOR_BYTES) / max(1, run.cycles * run.sms)
