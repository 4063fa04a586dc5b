"""How fast a launch moves bytes, at the DRAM and at the L2, and how busy these are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from gpusim.bounds.bounds import Bound
from gpusim.engines import line_share
from gpusim.machine.machine import Machine, seconds
from gpusim.simulation.result import Result
from gpusim.sm.memory.cache.declaration import SHARE_PARTS, tagged
from gpusim.sm.memory.dram.declaration import written_alone_cost
from gpusim.sm.memory.global_memory.declaration import arriving_mbs, line_cost, written_cost
from gpusim.sm.memory.l2_channel.declaration import most_loaded
from gpusim.support.document import doc
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES

DRAM, L2 = "DRAM", "L2"
BUSY_DRAM = 0.6  # share of the SM's bandwidth from which on waits for memory are waits for its bandwidth


@dataclass(frozen=True)
class MemoryRate:
    """What the chip moves at a level of memory, in 10^9 bytes per second, of what it can."""

    level: Annotated[str, doc("DRAM or L2.")]
    gbs: Annotated[float, doc("10^9 bytes per second of the chip.")]
    peak_gbs: Annotated[float, doc("What it would move of this launch's loads and stores if it were always busy.")]
    percent: Annotated[float, doc("Of the time, that in which the level is busy: 100 gbs / peak_gbs.")]


def memory_rates(result: Result) -> tuple[MemoryRate, ...]:
    """Return the rates of the levels that the run knows, from the sectors that it moved.

    A level is busy as long as the rules say that what it moves takes it: stores longer than loads, and parts of lines
    longer than whole ones. Where no tags are kept, every transaction goes to the DRAM, and nothing is known of the L2;
    where all loads are taken to hit a cache, nothing is known.
    """
    found = _rates(result)
    return tuple(MemoryRate(level, gbs, gbs / busy, 100 * busy) for level, gbs, busy in found if gbs and busy)


def _rates(result: Result) -> Iterator[tuple[str, float, float]]:
    machine, moved = result.machine, result.memory.whole
    each = SECTOR_BYTES / seconds(machine, result.cycles) / 1e9
    yield DRAM, each * moved.dram, sum(dram_parts(result))
    if tagged(machine) and moved.l2_sectors:
        yield L2, each * moved.l2_sectors, l2_busy(result)


def dram_parts(result: Result) -> tuple[float, float]:
    """Return the part of the time in which the DRAM is busy with reads, and with writes, from 0 to 1.

    It is that of the SM with most work, and of the others that have blocks as if they had as much.
    """
    machine, peak = result.machine, float(arriving_mbs(result.machine)) / 1000
    longer = _longer(machine)
    if not tagged(machine):
        each = SECTOR_BYTES / seconds(machine, result.cycles) / 1e9 / peak
        return each * result.memory.whole.dram_read, longer * each * result.memory.whole.dram_written
    times = max(1.0, min(machine.chip.sms, result.kernel.blocks) / result.run.sms) / peak
    read, written = times * _moved_gbs(result, "read"), times * longer * _moved_gbs(result, "written")
    return read / max(1.0, read + written), written / max(1.0, read + written)


def _longer(machine: Machine) -> float:
    """Return how many times a read's time a write takes the DRAM at least."""
    least = min(written_cost(machine), written_alone_cost(machine)) if tagged(machine) else written_cost(machine)
    return least / line_cost(machine)


def _moved_gbs(result: Result, *ways: str) -> float:
    """Return what the simulated SMs moved those ways, 10^9 bytes per second, as tags say."""
    sectors = result.growth * sum(result.run.sectors[way] for way in ways)
    return sectors * SECTOR_BYTES / seconds(result.machine, result.cycles) / 1e9


def dram_busy(result: Result) -> float:
    """Return the part of the time in which the simulated SMs' share of the DRAM is busy, from 0 to 1.

    0 where nothing is known of it.
    """
    if not tagged(result.machine):
        arrives = float(arriving_mbs(result.machine)) / 1000 * _share(result)
        return (_moved_gbs(result, "read") + _longer(result.machine) * _moved_gbs(result, "written")) / arrives
    sharers = max(result.run.sms, min(result.machine.chip.sms, result.kernel.blocks))
    return min(1.0, sum(dram_parts(result)) * result.run.sms / sharers / _share(result))


def _share(result: Result) -> float:
    """Return the part of the DRAM's bandwidth that the simulated SMs have: where tags are kept, of SMs with blocks."""
    machine, sms = result.machine, result.machine.chip.sms
    sharers = min(sms, result.kernel.blocks) if machine.dram and tagged(machine) else sms
    return min(1.0, result.run.sms / sharers)


def few_sms(result: Result) -> bool:
    """Tell whether the SMs that are simulated have too small a share of the DRAM, since others have no block.

    They do where the DRAM would not be busy if those with a block shared all of it.
    """
    few, sms = result.run.sms, result.machine.chip.sms
    alone = few < sms and _share(result) == few / sms
    return alone and dram_busy(result) * min(1.0, result.kernel.blocks / sms) < BUSY_DRAM


def l2_busy(result: Result) -> float:
    """Return the part of the time in which the simulated SMs' share of the L2 is busy, from 0 to 1; 0 if unknown.

    It is that of the loads, the stores or the answers, which have ways of their own, or one for all. SMs without a
    block leave theirs to the others.
    """
    machine, run = result.machine, result.run
    if not tagged(machine):
        return 0.0
    share = min(1.0, run.sms / min(result.kernel.blocks, machine.chip.sms))
    asked = int(run.l2_asked.max(initial=0)) / (SHARE_PARTS * run.sms * max(1, run.cycles - run.estimated))
    if asked:
        return min(1.0, asked * result.growth * run.cycles / result.cycles)
    return min(1.0, _l2_used(result, _moved_gbs(result, "loaded"), _moved_gbs(result, "stored")) / share)


def _l2_used(result: Result, loaded: float, stored: float) -> float:
    """Return the same of all SMs that move so many 10^9 bytes per second, where whole sectors say how long it takes.

    More is loaded where SMs of a GPC ask for the same lines.
    """
    machine, channel = result.machine, result.machine.l2_channel
    if channel is None:
        assert machine.cache is not None
        both = machine.chip.sms * SECTOR_BYTES * SHARE_PARTS / machine.cache.l2_sector_parts
        return (loaded + stored) / _gbs(machine, both)
    merged = line_share.merged(result.kernel, machine, result.run.first_sm)
    most = most_loaded(channel) if merged else channel.load_bytes
    return max(loaded / _gbs(machine, most), stored / _gbs(machine, channel.store_bytes))


def _gbs(machine: Machine, of_cycle: float) -> float:
    """Return so many bytes of each cycle in 10^9 bytes per second."""
    return of_cycle / seconds(machine, 1) / 1e9


def bound_rates(kernel: Kernel, machine: Machine, bound: Bound) -> tuple[MemoryRate, ...]:
    """Return the rate that no schedule can exceed, where the bound knows what the DRAM moves.

    It does not with tags, or where writes take longer than reads.
    """
    if tagged(machine) or _longer(machine) > 1:
        return ()
    moved = _of_bound(machine, bound, _used_sms(kernel, machine), bound.cycles)
    return tuple(MemoryRate(level, gbs, peak, 100 * gbs / peak) for level, gbs, peak in moved if gbs)


def _of_bound(machine: Machine, bound: Bound, used: float, cycles: int) -> Iterator[tuple[str, float, float]]:
    """Yield what the DRAM moves in so many cycles, if that share of the SMs moves as much as the bound counts."""
    if machine.cache and machine.cache.hits != "none":
        return
    peak = float(arriving_mbs(machine)) / 1000
    yield DRAM, peak * used * bound.limits.get("memory bandwidth", 0) / cycles, peak


def used_sms(result: Result) -> float:
    """Return the mean work of all SMs over that of the SM with most work, from 0 to 1."""
    return _used_sms(result.kernel, result.machine)


def _used_sms(kernel: Kernel, machine: Machine) -> float:
    blocks, sms = kernel.blocks, machine.chip.sms
    return blocks / (sms * -(-blocks // sms))
