"""How fast a launch moves bytes, at the DRAM and at the L2, beside what these can move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from gpusim.bounds.bounds import Bound
from gpusim.engines import line_share
from gpusim.machine.machine import Machine, seconds
from gpusim.simulation.simulation import Result
from gpusim.sm.memory.cache.declaration import SHARE_PARTS, tagged
from gpusim.sm.memory.global_memory.declaration import arriving_mbs
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
    peak_gbs: Annotated[float, doc("What arrives of the bandwidth; at the L2: what all SMs can load.")]
    percent: Annotated[float, doc("100 gbs / peak_gbs.")]


def memory_rates(result: Result) -> tuple[MemoryRate, ...]:
    """Return the rates of the levels that the run knows, from the sectors that it moved.

    Where no tags are kept, every transaction goes to the DRAM, and nothing is known of the L2; where all loads are
    taken to hit a cache, nothing is known.
    """
    found = _rates(result)
    return tuple(MemoryRate(level, gbs, peak, 100 * gbs / peak) for level, gbs, peak in found if gbs)


def _rates(result: Result) -> Iterator[tuple[str, float, float]]:
    machine, moved = result.machine, result.memory.whole
    each = SECTOR_BYTES / seconds(machine, result.cycles) / 1e9
    yield DRAM, each * moved.dram, float(arriving_mbs(machine)) / 1000
    if tagged(machine):
        yield L2, each * moved.l2_sectors, _l2_gbs(result)


def _moved_gbs(result: Result, *ways: str) -> float:
    """Return what the simulated SMs moved those ways, 10^9 bytes per second, as tags say."""
    sectors = result.growth * sum(result.run.sectors[way] for way in ways)
    return sectors * SECTOR_BYTES / seconds(result.machine, result.cycles) / 1e9


def dram_busy(result: Result) -> float:
    """Return the part of the DRAM's bandwidth in use, of what the simulated SMs have together, from 0 to 1.

    0 where nothing is known of it.
    """
    arrives = float(arriving_mbs(result.machine)) / 1000 * _share(result)
    return _moved_gbs(result, "read", "written") / arrives


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
    """Return the part in use of what the simulated SMs can load from the L2, from 0 to 1; 0 where nothing is known.

    SMs without a block leave theirs to the others.
    """
    if not tagged(result.machine):
        return 0.0
    can = _l2_gbs(result) * min(1.0, result.run.sms / min(result.kernel.blocks, result.machine.chip.sms))
    return _moved_gbs(result, "loaded", "stored") / can


def _l2_gbs(result: Result) -> float:
    return l2_gbs(result.machine, merged=line_share.merged(result.kernel, result.machine, result.run.first_sm))


def l2_gbs(machine: Machine, *, merged: bool = False) -> float:
    """Return what all SMs of a machine with tags can get from the L2, 10^9 bytes per second.

    `merged`: some of the lines for which SMs of a GPC ask are the same.
    """
    if machine.l2_channel:
        of_cycle = float(most_loaded(machine.l2_channel) if merged else machine.l2_channel.load_bytes)
    else:
        assert machine.cache is not None
        of_cycle = machine.chip.sms * SECTOR_BYTES * SHARE_PARTS / machine.cache.l2_sector_parts
    return of_cycle / seconds(machine, 1) / 1e9


def bound_rates(kernel: Kernel, machine: Machine, bound: Bound) -> tuple[MemoryRate, ...]:
    """Return the rate that no schedule can exceed, where the bound knows what the DRAM moves: none with tags."""
    if tagged(machine):
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
