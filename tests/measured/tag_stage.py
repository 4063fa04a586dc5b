"""Times the loops of tests/measured/tag_stage.cu on a card: what late loads, and stores, take of the L1.

`python3 tag_stage.py tag_stage.cubin > h200_tag_stage.csv` needs nothing but the driver.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rows import Card

LANES = range(32)
TIMED = 48  # rounds between the clocks of a warp
HEAD = """\
# NVIDIA H200, SM clock 1980 MHz, 2026-11-28: cycles of a round of a block's warps, in the mean of 48 rounds and of all
# warps, the second least of four launches, as tests/measured/tag_stage.cu says; tests/measured/tag_stage.py says where
# lanes ask, and how rounds and warps move
loop,pattern,moves,lanes,warps,cycles"""
PLACES = {  # bytes of each lane
    "row": [4 * lane for lane in LANES],
    "word": [0 for _ in LANES],
    "row+16": [4 * lane + 64 for lane in LANES],
    "two rows": [4 * (lane % 16) + lane // 16 * (16384 + 64) for lane in LANES],
    "two rows near": [4 * (lane % 16) + lane // 16 * (256 + 64) for lane in LANES],
    "two rows clash": [4 * (lane % 16) + lane // 16 * 16384 for lane in LANES],
    "four rows": [4 * (lane % 8) + lane // 8 * (8192 + 32) for lane in LANES],
    "eight rows": [4 * (lane % 4) + lane // 4 * (2048 + 16) for lane in LANES],
    "stride 2": [8 * lane for lane in LANES],
    "row of 2": [8 * lane for lane in LANES],
    "row of 4": [16 * lane for lane in LANES],
}
LATE = "late1_4", "late2_4", "late4_4", "late7_32", "late4_128"
STORES = (
    "stores1_1_16_0_0",
    "stores1_2_16_0_0",
    "stores1_4_16_0_0",
    "stores1_1_8_0_0",
    "stores1_4_0_0_0",
    "stores1_1_0_3_0",
    "stores1_4_0_4_0",
    "stores1_1_16_3_0",
    "stores1_1_16_0_1",
    "stores1_4_16_0_1",
)
WIDE = "stores2_1_16_0_0", "stores4_1_16_0_0", "stores4_2_16_0_0", "stores4_1_16_0_1"


class Loop(NamedTuple):
    """A loop, where its lanes ask, how it moves, the lanes that store, and its warps."""

    name: str
    pattern: str
    moves: str  # still; own: each warp has lines of its own; fours: four warps have the same ones; shared: all do
    lanes: int
    warps: int

    @property
    def argument(self) -> list[int]:
        """What the program is given as `at`."""
        far = 1024 if self.name in ("late7_32", "late4_128") else 256
        span = 2048 if self.name.startswith("stores") else far
        step = {"still": 0, "own": span * self.warps, "fours": span * self.warps // 4, "shared": span}[self.moves]
        of_warp = span if self.moves == "own" or self.name.startswith("stores") else 0
        return [*PLACES[self.pattern], step, of_warp, span if self.moves == "fours" else 0, 0, self.lanes]


def loops() -> Iterator[Loop]:
    """Yield all loops."""
    for pattern, name, moves, warps in product(list(PLACES)[:9], LATE, ("still", "own", "fours", "shared"), (24, 32)):
        yield Loop(name, pattern, moves, 32, warps)
    for pattern, name, moves, warps in product(
        ("row", "word", "two rows", "four rows", "eight rows", "stride 2"), STORES, ("still", "own"), (16, 32)
    ):
        for lanes in (1, 8, 16, 32) if pattern == "row" else (32,):
            yield Loop(name, pattern, moves, lanes, warps)
    for name, lanes, warps in product(WIDE, (1, 8, 16, 32), (16, 32)):
        yield Loop(name, f"row of {name[6]}", "own", lanes, warps)


def round_cycles(card: Card, loop: Loop, buffers: list[ctypes.c_uint64]) -> float:
    """Return the cycles of a round, in the mean of all warps."""
    function, clocks = ctypes.c_void_p(), (ctypes.c_uint32 * (2 * loop.warps))()
    card.call("cuModuleGetFunction", ctypes.byref(function), card.module, loop.name.encode())
    at = (ctypes.c_int * len(loop.argument))(*loop.argument)
    card.call("cuMemcpyHtoD_v2", buffers[2], at, ctypes.c_size_t(ctypes.sizeof(at)))
    given = (ctypes.c_void_p * len(buffers))(*(ctypes.addressof(value) for value in buffers))
    card.call("cuLaunchKernel", function, 1, 1, 1, 32 * loop.warps, 1, 1, 0, None, given, None)
    card.call("cuMemcpyDtoH_v2", clocks, buffers[0], ctypes.c_size_t(ctypes.sizeof(clocks)))
    return sum(clocks[2 * w + 1] - clocks[2 * w] for w in range(loop.warps)) / loop.warps / TIMED


def main(cubin: str) -> None:
    """Print the rows."""
    from rows import Card  # noqa: PLC0415  (the test that reads the loops does not look beside this file)

    card = Card(Path(cubin).read_bytes())
    buffers = [card.buffer(size) for size in (1024, 24 << 20, 256, 4096)]
    print(HEAD)  # noqa: T201  (a program of its own)
    for loop in loops():
        cycles = sorted(round_cycles(card, loop, buffers) for _ in range(4))[1]
        print(f"{','.join(map(str, loop))},{cycles:.1f}")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
