"""The search space of Lai and Seznec's SGEMM: register blocking, width of the shared loads, prefetch and order.

Registers and shared memory are counted as in the kernel itself. Their report derives one point of it (INRIA RR-7923,
2012, section 4): blocking 6, LDS.64, prefetch, loads interleaved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial

import numpy as np

from workloads.gemm.tiles import DEPTH, SIDE, THREADS, Tile
from workloads.papers.lai.lai_program import ORDERS, register_map
from workloads.space import Column, Columns, Constraint, Limits, Mask, Point, Size, Space, blocks_per_sm, every, product

AXES = {"blocking": range(1, 13), "lds": (32, 64, 128), "prefetch": (0, 1), "order": range(len(ORDERS))}
WORD_BITS = 32
SWITCHES = ("off", "on")


def lai_space(occupancy: Fraction = Fraction(1, 3)) -> Space:
    """Return the space; `occupancy` is the least share of an SM's threads that must be resident."""
    return Space(
        name="sgemm-lai",
        kernel="sgemm-lai",
        axes=tuple(AXES),
        counted=lambda _: (),
        rows=lambda _: (product(AXES),),
        constraints=_constraints(occupancy),
        points=lambda columns: np.stack([columns[axis] for axis in AXES], axis=1),
        parameters=_parameters,
        tile=_tile,
        winner={"blocking": 6, "lds": 64, "prefetch": 1, "order": ORDERS.index("interleaved")},
    )


def _constraints(occupancy: Fraction) -> tuple[Constraint, ...]:
    values = f"blocking 1 to {max(AXES['blocking'])}, lds 32, 64 or 128, prefetch off or on, order {', '.join(ORDERS)}"
    return (
        Constraint("points", "hard", values, every),
        Constraint(
            "registers",
            "hard",
            "of a thread <= those that one may have",
            lambda columns, limits: _registers(columns) <= limits.registers_per_thread,
        ),
        Constraint(
            "one block",
            "hard",
            "registers and shared memory of a block fit an SM",
            lambda columns, limits: _blocks(columns, limits) >= 1,
        ),
        Constraint(
            "occupancy",
            "soft",
            f"resident threads >= {occupancy} of those that an SM holds",
            partial(_occupied, occupancy),
        ),
    )


def _occupied(occupancy: Fraction, columns: Columns, limits: Limits) -> Mask:
    mask: Mask = _blocks(columns, limits) * THREADS * occupancy.denominator >= occupancy.numerator * limits.threads
    return mask


def _blocks(columns: Columns, limits: Limits) -> Column:
    registers, shared = _registers(columns) * THREADS, np.array(list(_shared_bytes(columns)), np.int64)
    return blocks_per_sm(limits, np.full(len(registers), THREADS), registers, shared)


def _registers(columns: Columns) -> Column:
    """Return the 32-bit registers of a thread, by row."""
    each = zip(*(columns[axis].tolist() for axis in ("blocking", "lds", "prefetch")), strict=True)
    return np.array([register_map(size, lds // WORD_BITS, bool(on)).count for size, lds, on in each], np.int64)


def _shared_bytes(columns: Columns) -> Iterator[int]:
    """Yield the shared memory of a block in bytes, by row: two operand tiles stored along their rows (layout nt)."""
    for blocking, lds in zip(columns["blocking"].tolist(), columns["lds"].tolist(), strict=True):
        yield 2 * Tile(blocking, lds // WORD_BITS, contiguous=True).shared_bytes


def _parameters(point: Point) -> Mapping[str, str]:
    sizes = {axis: str(point[axis]) for axis in ("blocking", "lds")}
    return sizes | {"prefetch": SWITCHES[point["prefetch"]], "order": ORDERS[point["order"]]}


def _tile(point: Point) -> Size:
    return SIDE * point["blocking"], SIDE * point["blocking"], DEPTH
