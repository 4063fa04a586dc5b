"""The caches of a machine as a scan of every cycle begins with them: empty, but for the L2 if it is filled."""

from __future__ import annotations

from neighbours import lifted

from gpusim.engines.line_share import differing
from gpusim.machine.machine import Machine
from gpusim.machine.simulated_sms import neighbours
from gpusim.sm.memory.l2_channel.declaration import merges
from isa.dataflow.memory.address_steps import address_steps
from isa.dataflow.memory.shared_places import shared_places
from isa.kernel import Kernel
from scan.caches import UNIT, Caches
from scan.held_stores import HeldStores
from scan.kept import goes_on, held, not_kept
from scan.l2_atomic import Slices
from scan.left_to_l1 import left
from scan.levels import Level
from scan.tag_stage import Stage


def caches(machine: Machine, kernel: Kernel) -> Caches | None:
    """The machine's caches, empty but for the L2 if it is filled; None where no tags are kept."""
    if machine.cache is None or machine.cache.hits != "tags":
        return None
    line, levels = machine.global_memory.line_bytes, []
    read = machine.texture_cache, machine.scalar_cache, machine.constant_cache
    every = machine.l1, machine.l2, machine.l2_partition, *read
    for cache in every:
        size = left(machine, kernel) if cache is machine.l1 else cache.bytes if cache else 0
        sets = size // (line * cache.ways) if cache else 0
        hashed = bool(getattr(cache, "hashed", 0))
        levels.append(Level(sets, cache.ways, line // UNIT, cache.sector_bytes // UNIT, hashed) if cache else None)
    spills = not_kept(machine, kernel) if machine.l2 else 0
    if machine.l2 and machine.l2.filled:
        for number in held(machine, kernel):
            for level in levels[1:3]:
                if level and (number * 0x9E3779B1 >> 20) % 64 >= spills:
                    level.use(number)[0].came = dict.fromkeys(range(level.units), 1)
    for level, cache in zip(levels, every, strict=True):
        if level and cache:
            level.begin(cache.replacement)
    once = lifted(machine, "atomics", "at-once")
    slices = Slices(machine) if machine.l2_atomic and machine.l2 and not once else None
    sms = min(machine.chip.sms, kernel.blocks)
    near = neighbours(kernel, machine, 0)  # tests/engines/test_line_share.py has other oracles for what these ask for
    found = differing(kernel, near) if merges(machine) and len(near) > 1 else {}
    waiting, stage, gone = HeldStores(machine), Stage(machine), goes_on(machine, kernel) if machine.l2 else 0
    crowded = shared_places(kernel) & address_steps(kernel).keys() if slices else frozenset()
    more = {"stage": stage, "differing": found, "passes": gone, "crowded": crowded}
    return Caches(machine, *levels, waiting, sms=sms, slices=slices, **more)
