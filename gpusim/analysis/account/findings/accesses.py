"""What accesses waste: passes of conflicts or of one word, sectors of lanes apart, constants that lanes read apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from gpusim.analysis.account.findings.finding import Cause, places
from gpusim.analysis.account.rates.memory_rates import DRAM, L2
from gpusim.analysis.account.rates.utilisation import CHANNEL, WAY, utilisation
from gpusim.bounds.bounds import CONSTANTS, SHARED, UNIT
from gpusim.simulation.result import Result
from isa.memory import SECTOR_BYTES
from isa.row import Unit
from isa.values.atomic import compare_and_swap

APART = 1.5  # words that lanes read, for each that they need, from which on they count as apart
LEADING = 0.5  # part of the time of the way to the caches from which on what else waits there is behind these: chosen
PAD = "pad the rows of the tile by a word, or permute its columns"
ONCE = "add up within each warp first, by shuffles, and let one lane update the word; or take a word per warp"
NEIGHBOURS = "let neighbouring lanes access neighbouring words, through shared memory if need be"
TABLE = "let all lanes of a warp read the same constant; keep a table that they read apart in shared or global memory"
Factors = Mapping[int, float]  # by pc: what an access takes, for each time that it needs


def accesses(result: Result) -> Iterator[Cause]:
    """Yield what accesses waste, as time of the resources that they keep; the threshold is that of all findings."""
    if result.bound:
        yield from _conflicts(result, result.bound.conflicts)
        yield from _serialised(result, result.bound.serialised)
        yield from _scattered(result, result.bound.scattered)
    yield from _constants(result)


def _conflicts(result: Result, ways: Factors) -> Iterator[Cause]:
    """Passes through shared memory that bank conflicts add."""
    if ways:
        pcs, freed = _passes(result, ways)
        what = f"{_ways(ways[pcs[0]])} bank conflicts at {places(result.kernel.program, pcs)}"
        yield Cause("bank conflicts", what, PAD, pcs, freed)


def _ways(factor: float) -> str:
    return f"{factor:.0f}-way" if abs(factor - round(factor)) < 0.05 else f"{factor:.1f}-way (mean)"


def _serialised(result: Result, factors: Factors) -> Iterator[Cause]:
    """Passes through shared memory of lanes that update one word."""
    if factors:
        pcs, freed = _passes(result, factors)
        swaps = any(result.kernel.program.instructions[pc].row.update is compare_and_swap for pc in pcs)
        again = ", and those that another one outran try again" if swaps else ""
        passes = f"{factors[pcs[0]]:.3g} passes for each that the width needs"
        where = places(result.kernel.program, pcs)
        what = f"lanes update one word in shared memory, one after the other{again}, at {where}: {passes}"
        yield Cause("serialised atomics", what, ONCE, pcs, freed)


def _scattered(result: Result, factors: Factors) -> Iterator[Cause]:
    """Sectors of global memory that lanes touch beyond those that their bytes fill."""
    if factors:
        pcs, held = _beyond(_time(result, result.run.held[0]), factors)
        passes, used = _beyond(_time(result, result.run.load_store_cycles), factors)[1], utilisation(result)
        far = {name: part * _beyond_needed(result, name, factors) for name, part in used.items()}
        if held >= LEADING * used.get(WAY, 0.0) > 0:  # what is left are passes of others
            held = max(held, used[WAY] - max(0.0, used.get(UNIT, 0.0) - passes))
        where = places(result.kernel.program, pcs)
        what = f"lanes lie apart at {where}: {factors[pcs[0]]:.3g} times the sectors that their bytes fill"
        yield Cause("scattered accesses", what, NEIGHBOURS, pcs, far | {UNIT: passes, WAY: held})


def _constants(result: Result) -> Iterator[Cause]:
    """Constants of which lanes read several at a time, one after the other."""
    cache, program, run = result.machine.constant_cache, result.kernel.program, result.run
    loads = [pc for pc, one in enumerate(program.instructions) if one.row.unit is Unit.CONSTANT and run.issued[pc]]
    if cache is None:
        return
    each = {pc: float(run.load_store_cycles[pc]) / (int(run.issued[pc]) * cache.request_cycles) for pc in loads}
    factors = {pc: words for pc, words in each.items() if words >= APART}
    if factors:
        names = (CONSTANTS,) if result.machine.constant_path else (UNIT, WAY)
        pcs, freed = _beyond(_time(result, run.held.sum(axis=0)), factors)
        words = f"{factors[pcs[0]]:.3g} words in each access, one after the other"
        what = f"lanes read constants apart at {places(program, pcs)}: {words}"
        yield Cause("constants apart", what, TABLE, pcs, dict.fromkeys(names, freed))


def _passes(result: Result, factors: Factors) -> tuple[tuple[int, ...], dict[str, float]]:
    """Return the instructions, costliest first, and the time of the unit that their passes beyond the needed take."""
    pcs, freed = _beyond(_time(result, result.run.load_store_cycles), factors)
    return pcs, dict.fromkeys((SHARED,) if result.machine.memory_paths else (UNIT, WAY), freed)


def _beyond(time: NDArray[np.float64], factors: Factors) -> tuple[tuple[int, ...], float]:
    """Return the instructions, costliest first, and the part of the time by which factors lengthen them."""
    beyond = {pc: float(time[pc]) * (1 - 1 / factor) for pc, factor in factors.items()}
    return tuple(sorted(beyond, key=lambda pc: -beyond[pc])), sum(beyond.values())


def _time(result: Result, cycles: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return cycles of the simulated SMs as parts of their time."""
    parts: NDArray[np.float64] = cycles / (result.run.cycles * result.run.sms)
    return parts


def moved(result: Result, name: str, pcs: Iterable[int] | None = None) -> tuple[float, float]:
    """Return the sectors that instructions, all without these, move at a level of memory, and the bytes needed.

    Without tags the channel to memory moves all that is asked for.
    """
    found = result.memory.of(pcs)
    return {L2: found.l2_sectors, DRAM: found.dram, CHANNEL: found.sectors}.get(name, 0.0), found.needed


def _beyond_needed(result: Result, name: str, factors: Factors) -> float:
    """Return the part of what the L2 or the DRAM moved that no lane asked for.

    Of an access it is at most what its lanes touch in vain; what caches keep is needed more often than it is moved.
    """
    wasted = 0.0
    for pc, factor in factors.items():
        sectors, needed = moved(result, name, (pc,))
        wasted += min(sectors * (1 - 1 / factor), max(0.0, sectors - needed / SECTOR_BYTES))
    return wasted / max(1.0, moved(result, name)[0])
