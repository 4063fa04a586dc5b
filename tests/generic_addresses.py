"""Kernels with generic addresses, and what an H200 made of them: tests/measured/generic.cu and the arrays afterwards.

The cubin is nvcc 13.0.88's for sm_90; the arrays were recorded on one H200 (driver 580). Those that a kernel left as
they were are not kept, nor the slots of warps, which `machine_state` reads. No kernel here has a race; those of the
file that take the time, and `of_two` and `volatiles`, which have races, are no launches here.
"""

from __future__ import annotations

import lzma
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np
from idioms import DATA, Launch, doubles, integers, number, singles, small, unsigned_longs, words, zeros

LAUNCHES = {
    "three_spaces": Launch((1,), (32,), 0, [zeros(64, "f4"), singles(256), number(7)], 101),
    "widths": Launch(
        (1,),
        (32,),
        0,
        [singles(512), doubles(256), small(128, "i2"), small(256, "u1"), small(128, "i1")],
        103,
    ),
    **{f"atomics.{k}": Launch((1,), (32,), 0, [integers(16), zeros(64), number(k)], 110 + k) for k in range(12)},
    **{
        f"atomics64.{k}": Launch((1,), (32,), 0, [unsigned_longs(), zeros(96, "u8"), number(k)], 130 + k)
        for k in range(8)
    },
    "atomic_sums": Launch((1,), (32,), 0, [singles(32), doubles(32), zeros(64, "f4"), zeros(64, "f8")], 104),
    "memo": Launch((1,), (32,), 0, [zeros(32)], 105),
    "sorts": Launch((1,), (32,), 0, [integers(512), zeros(512)], 106),
    "virtuals": Launch((1,), (32,), 0, [integers(32), number(5)], 107),
    "tree": Launch((1,), (32,), 0, [integers(64)], 108),
    "captures": Launch((1,), (32,), 0, [integers(32), number(11)], 109),
    "pointers": Launch((1,), (32,), 0, [words(160, 1000), zeros(64), number(9)], 141),
    "which": Launch((1,), (32,), 0, [zeros(64), words(32, 1000)], 142),
    "conversions": Launch((1,), (32,), 256, [zeros(96)], 143),
    "stack": Launch((1,), (32,), 0, [integers(96), number(10)], 144),
    "machine_state": Launch((1,), (64,), 768, [zeros(512, "u8")], 146),
}


def kernel(name: str) -> str:
    """Return the kernel of a launch: its name up to a dot."""
    return name.partition(".")[0]


@cache
def chip() -> dict[str, Any]:
    """Return the arrays that the chip left, by launch and place among the arguments: `memo.0`."""
    return dict(np.load(BytesIO(lzma.decompress((DATA / "generic.npz.xz").read_bytes()))))


def code() -> bytes:
    """Return the cubin."""
    return lzma.decompress((DATA / "generic.cubin.xz").read_bytes())
