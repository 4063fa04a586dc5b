"""Where the contents of caches lie in the memory array: behind local memory, for each SM, the L2 and its partitions.

Requests that streams record (gpusim/sm/replay/stream/recorded_requests.py) follow, for each SM.
"""

from __future__ import annotations

from typing import Any

from gpusim.machine.machine import Machine
from gpusim.sm.memory.cache.declaration import (
    CONSTANTS,
    FAR,
    NEAR,
    PARTITION,
    REPLACEMENTS,
    REQUEST_ROW,
    SCALARS,
    TEXTURES,
    WAY_HEAD,
    Kept,
    tagged,
)
from gpusim.sm.pipes.load_store.declaration import queues
from gpusim.sm.unit.capacities import RECORDED
from isa.memory import SECTOR_BYTES

WORD = 2  # 32-bit words of a word that caches keep


def words(machine: Machine, sms: int, *, recorded: bool) -> int:
    """Return how many 32-bit words the caches of so many SMs need, and requests if they are recorded.

    None where no tags are kept.
    """
    if not tagged(machine):
        return 0
    return WORD * (_of_caches(machine, sms) + sms * _of_requests(sms) * recorded + 1)


def _of_requests(sms: int) -> int:
    """Words for what an SM records; twice as many where there is one, each of whose blocks may need its own."""
    return RECORDED * (2 if sms == 1 else 1)


def _of_caches(machine: Machine, sms: int) -> int:
    shared = _of_cache(machine, machine.l2) + _partitions(machine, sms) * _of_cache(machine, machine.l2_partition)
    return sms * _of_sm(machine) + shared


def place(target: Any, machine: Machine, s: int, sms: int, end: int, *, recorded: bool) -> None:
    """Tell the record of SM s's launch where its caches lie in a memory array of `end` words, and its requests."""
    target.cache_end = end // WORD * WORD
    target.cache_word = target.cache_end - words(machine, sms, recorded=recorded) + WORD
    target.recorded = _of_caches(machine, sms) + s * _of_requests(sms)
    target.recorded_end = target.recorded + _of_requests(sms) * recorded
    target.requests = s * _of_sm(machine)
    target.misses = first = target.requests + _rows(machine) * REQUEST_ROW
    first += machine.l1.misses if machine.l1 else 0
    for which, cache in _own(machine).items():
        if cache:
            _pack(target.caches[which], machine, cache, first)
            first += _of_cache(machine, cache)
    if machine.l2:
        first = sms * _of_sm(machine)
        _pack(target.caches[FAR], machine, machine.l2, first)
        if machine.l2_partition:
            target.side = s * _partitions(machine, sms) // sms
            first += _of_cache(machine, machine.l2) + int(target.side) * _of_cache(machine, machine.l2_partition)
            _pack(target.caches[PARTITION], machine, machine.l2_partition, first)


def _pack(target: Any, machine: Machine, cache: Kept, first: int) -> None:
    target.first, target.sets, target.ways = first, _sets(machine, cache), cache.ways
    target.hashed, target.replacement = getattr(cache, "hashed", 0), REPLACEMENTS.index(cache.replacement)
    target.stride, target.sector = _stride(machine), cache.sector_bytes // SECTOR_BYTES


def _partitions(machine: Machine, sms: int) -> int:
    """How many partitions of the L2 so many SMs have; each is near the same number of SMs."""
    count = machine.l2.bytes // machine.l2_partition.bytes if machine.l2 and machine.l2_partition else 0
    return min(count, sms)


def _own(machine: Machine) -> dict[int, Kept | None]:
    """An SM's own caches, by their numbers."""
    read = {TEXTURES: machine.texture_cache, SCALARS: machine.scalar_cache, CONSTANTS: machine.constant_cache}
    return {NEAR: machine.l1, **read}


def _of_sm(machine: Machine) -> int:
    misses = machine.l1.misses if machine.l1 else 0
    return _rows(machine) * REQUEST_ROW + misses + sum(_of_cache(machine, cache) for cache in _own(machine).values())


def _rows(machine: Machine) -> int:
    """Entries of all queues, and one for what does not queue."""
    return machine.load_store.queue * queues(machine) + 1


def _of_cache(machine: Machine, cache: Kept | None) -> int:
    return 1 + _sets(machine, cache) * cache.ways * _stride(machine) if cache else 0


def _sets(machine: Machine, cache: Kept) -> int:
    return cache.bytes // (machine.global_memory.line_bytes * cache.ways)


def _stride(machine: Machine) -> int:
    """Words of a way."""
    return WAY_HEAD + machine.global_memory.line_bytes // SECTOR_BYTES
