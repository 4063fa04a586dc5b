"""Idioms of CUDA C with what an H200 made of them: tests/measured/idioms.cu, its launches, and the arrays afterwards.

The cubin is nvcc 13.0.88's for sm_90. The arrays were recorded on one H200 (driver 580) through CuPy, whose RawModule
takes the same arguments as gpusim's; those that a kernel left as they were are not kept. No kernel here has a race.
"""

from __future__ import annotations

import lzma
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng

DATA = Path(__file__).with_name("measured")
Argument = Callable[[Generator], Any]  # an array of random numbers, or a scalar


@dataclass(frozen=True)
class Launch:
    """Blocks, threads of a block, bytes of dynamic shared memory, and the arguments of a kernel."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    arguments: Sequence[Argument]
    seed: int

    def values(self) -> list[Any]:
        """Return the arguments: new arrays each time, with the same numbers."""
        generator = default_rng(self.seed)
        return [argument(generator) for argument in self.arguments]


def singles(n: int = 1024, low: float = -4, high: float = 4) -> Argument:
    return lambda g: g.uniform(low, high, n).astype("f4")


def doubles(n: int = 1024, low: float = -4, high: float = 4) -> Argument:
    return lambda g: g.uniform(low, high, n)


def halves() -> Argument:
    return lambda g: g.uniform(0.1, 3, 2048).astype("f2")


def brain_floats() -> Argument:
    return lambda g: (g.uniform(0.1, 3, 2048).astype("f4").view("u4") >> 16).astype("u2")


def integers(n: int = 1024, low: int = -1000, high: int = 1000) -> Argument:
    return lambda g: g.integers(low, high, n).astype("i4")


def words(n: int = 1024, high: int = 2**32) -> Argument:
    return lambda g: g.integers(0, high, n, dtype="u8").astype("u4")


def longs() -> Argument:
    return lambda g: g.integers(-(2**62), 2**62, 1024).astype("i8")


def unsigned_longs() -> Argument:
    return lambda g: g.integers(0, 2**63, 1024).astype("u8")


def small(n: int, kind: str) -> Argument:
    return lambda g: g.integers(-100 if kind[0] == "i" else 0, 100, n).astype(kind)


def zeros(n: int, kind: str = "u4") -> Argument:
    return lambda _: np.zeros(n, kind)


def scalar(value: Any) -> Argument:
    return lambda _: value


def number(value: int) -> Argument:
    return scalar(np.int32(value))


STRUCTURE = np.dtype([("v", "4f4"), ("k", "i4"), ("pad", "3i4")])

LAUNCHES = {
    "sums": Launch((4,), (64,), 0, [singles(), singles(), singles(), number(250)], 617),
    "divisions": Launch(
        (4,),
        (64,),
        0,
        [integers(), integers(low=1, high=99), integers(), words(), longs(), unsigned_longs(), number(256)],
        640,
    ),
    "float_divisions": Launch(
        (4,), (64,), 0, [singles(low=0.01), singles(low=0.01), singles(), doubles(), number(256)], 627
    ),
    "functions": Launch((4,), (64,), 0, [singles(low=0.05, high=0.95), singles(), number(256)], 628),
    "double_functions": Launch((4,), (64,), 0, [doubles(low=0.05, high=0.95), doubles(), number(256)], 728),
    "conversions": Launch(
        (1,),
        (64,),
        0,
        [
            singles(low=0, high=99),
            small(1024, "i1"),
            small(1024, "u1"),
            small(1024, "i2"),
            small(1024, "u2"),
            longs(),
            unsigned_longs(),
            doubles(4096),
            integers(),
            words(),
            number(64),
        ],
        640,
    ),
    "halves": Launch((1,), (64,), 0, [halves(), halves(), halves(), halves(), singles(), number(60)], 613),
    "brain_floats": Launch(
        (1,), (64,), 0, [brain_floats(), brain_floats(), brain_floats(), brain_floats(), singles(), number(60)], 505
    ),
    "across_lanes": Launch(
        (1,),
        (64,),
        0,
        [integers(low=0, high=8), zeros(1024), zeros(1024), singles(), doubles(), unsigned_longs(), number(64)],
        644,
    ),
    "bit_tricks": Launch((1,), (64,), 0, [words(), zeros(1024), unsigned_longs(), number(64)], 636),
    "local_array": Launch((1,), (64,), 0, [singles(2048, low=0, high=40), singles(), number(20)], 520),
    "constants": Launch((2,), (64,), 0, [integers(low=0, high=60), singles(), number(7)], 753),
    "recursion": Launch((1,), (64,), 0, [integers(low=0, high=8), zeros(256)], 516),
    "function_pointers": Launch((1,), (64,), 0, [singles(), singles()], 646),
    "jump_table": Launch((1,), (64,), 0, [integers(), zeros(256), number(17)], 860),
    "scan": Launch((4,), (64,), 256, [integers(), zeros(256), number(256)], 623),
    "counting_barriers": Launch((1,), (96,), 0, [integers(low=0, high=9), zeros(256)], 527),
    "thread_groups": Launch((1,), (64,), 0, [singles(), singles()], 404),
    "structures": Launch(
        (1,),
        (64,),
        0,
        [
            singles(),
            singles(),
            scalar(np.array(((1.5, 2, 3, 4), 7, (0, 0, 0)), STRUCTURE)[()]),
            singles(),
            singles(),
            number(30),
        ],
        879,
    ),
    "vectors": Launch(
        (1,),
        (64,),
        0,
        [
            singles(),
            singles(),
            integers(),
            integers(),
            doubles(),
            doubles(),
            small(1024, "u1"),
            small(1024, "u1"),
            small(1024, "i2"),
            small(1024, "i2"),
            number(50),
        ],
        520,
    ),
    "templates": Launch((1,), (64,), 0, [singles(), doubles(), integers()], 647),
    "lu": Launch((2, 2), (8, 8), 0, [doubles(256, 1, 4), number(16), number(2)], 427),
    "nbody": Launch((2,), (128,), 0, [singles(), singles(), number(256)], 742),
    "fft": Launch((1,), (32,), 0, [singles(256), number(64), number(32)], 522),
    "bitonic": Launch((4,), (64,), 0, [words(256), number(4), number(8)], 946),
    "hash_table": Launch((1,), (128,), 0, [words(128, 40), zeros(1024, "u8"), zeros(1024), number(128)], 622),
    "random_numbers": Launch((1,), (64,), 0, [words(), singles(), number(9)], 529),
    "wide_integers": Launch((1,), (64,), 0, [longs(), longs(), number(64)], 413),
    "float_comparisons": Launch((1,), (64,), 0, [singles(low=0.1, high=3), singles(), number(64)], 624),
    "double_comparisons": Launch((1,), (64,), 0, [doubles(low=0.1, high=3), doubles(), number(64)], 622),
    "bytes_and_shorts": Launch(
        (1,), (64,), 0, [small(256, "i1"), small(256, "i2"), integers(), small(1024, "u1"), number(64)], 363
    ),
    "mandelbrot": Launch((2, 2), (16, 8), 0, [zeros(512), number(32), scalar(np.float32(0.08))], 827),
    "traps": Launch((1,), (64,), 0, [singles(), singles(), number(200)], 856),
    "dynamic_shared": Launch((1,), (32,), 1024, [doubles()], 1062),
    "memory_orders": Launch((1,), (1,), 0, [integers(), zeros(256)], 511),
}


@cache
def chip() -> dict[str, Any]:
    """Return the arrays that the chip left, by kernel and place among the arguments: `sums.2`."""
    return dict(np.load(BytesIO(lzma.decompress((DATA / "idioms.npz.xz").read_bytes()))))


def code() -> bytes:
    """Return the cubin."""
    return lzma.decompress((DATA / "idioms.cubin.xz").read_bytes())
