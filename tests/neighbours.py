"""Lanes that lie side by side, by definition (docs/units/what-if.md), and which of the other limits are lifted."""

from __future__ import annotations

from typing import Any

from gpusim.machine.machine import Machine
from isa.row import Unit

Where = list[int | None]  # the byte of each of 32 lanes


def lifted(machine: Machine, name: str, value: str) -> bool:
    """Whether a machine has that limit lifted."""
    return machine.what_if is not None and getattr(machine.what_if, name) == value


def side_by_side(machine: Machine, row: Any, where: Where) -> Where:
    """Where lanes access global memory: where they do, or side by side if they are taken to."""
    atomic = row.update is not None and machine.global_atomic
    if row.unit is not Unit.GLOBAL or atomic or not lifted(machine, "lanes", "side-by-side"):
        return where
    together = 32 // row.words
    return [byte for i in range(0, 32, together) for byte in _moved(where[i : i + together], row.nbytes)]


def _moved(where: Where, size: int) -> Where:
    """Lanes that are resolved together: each distinct place has its rank in a block, whose size is a power of two.

    The block lies where one of the places is: the first of accesses that begin at a multiple of as many places as there
    are blocks between the lowest and the highest, the second of those behind, and so on.
    """
    bytes_of_lanes = [byte for byte in where if byte is not None]
    places = list(dict.fromkeys(bytes_of_lanes))
    touched, needed = 32 * len({place // 32 for place in places}), len(places) * size
    if len(places) < 2 or touched <= max(32, needed):
        return where
    room = _power(needed)
    span = max(places) + size - min(places)
    blocks = min(_power(-(-span // room)), _power(len(places)))
    base = places[min(places) // size % blocks * len(places) // blocks] // room * room
    return [None if byte is None else base + places.index(byte) * size for byte in where]


def _power(number: int) -> int:
    """The least power of two that is not below a number."""
    return 1 << (number - 1).bit_length()
