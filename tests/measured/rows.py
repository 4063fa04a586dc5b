"""Times the loops of tests/measured/rows.cu on a card: where the lanes of a load ask, and how often.

`python3 rows.py rows.cubin > h200_rows.csv` needs nothing but the driver.
"""

from __future__ import annotations

import ctypes
import random
import sys
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path

LANES = range(32)
STEPS = {1: (4, 128), 2: (8, 128), 4: (16, 128)}  # bytes between loads, by words of a lane
WARPS = 4, 16
ROUNDS = 8, 72
HEAD = """\
# NVIDIA H200, SM clock 1980 MHz, 2026-11-28: cycles of a block for 8 and for 72 rounds of eight loads that hit the L1,
# the least of five launches, as tests/measured/rows.cu says; tests/measured/rows.py says where lanes ask
pattern,words,step,warps,few,many"""


def patterns() -> Iterator[tuple[str, int, list[int]]]:
    """Yield the name of a pattern, the words of a lane, and each lane's place in words."""
    for first in (0, 1, 2, 4, 7, 8, 12, 16, 20, 24, 28, 31):
        yield f"row+{first}", 1, [first + lane for lane in LANES]
    for pitch in (2048, 2056, 2064, 2072, 40, 56):
        for first in (0, 1, 4, 8, 12, 16, 24, 31):
            yield f"2x16 pitch {pitch}+{first}", 1, [first + lane % 16 + lane // 16 * pitch for lane in LANES]
    for pitch in (2048, 2056, 2064):
        for first in (0, 3, 8, 24):
            yield f"4x8 pitch {pitch}+{first}", 1, [first + lane % 8 + lane // 8 * pitch for lane in LANES]
    for stride in (2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 24, 32, 33):
        for first in (0, 1):
            yield f"stride {stride}+{first}", 1, [first + stride * lane for lane in LANES]
    yield from _wide()
    yield from _random()


def _wide() -> Iterator[tuple[str, int, list[int]]]:
    """Yield rows and strides of two and four words."""
    for words, firsts in ((2, (0, 2, 4, 8, 14, 16, 30)), (4, (0, 4, 8, 12, 16, 20, 28))):
        for first in firsts:
            yield f"row+{first}", words, [first + words * lane for lane in LANES]
    for words, firsts in ((2, (0, 2, 8)), (4, (0, 4, 8, 16))):
        for first in firsts:
            places = [first + words * (lane % 16) + lane // 16 * 2056 for lane in LANES]
            yield f"2x16 pitch 2056+{first}", words, places
    for words, strides in ((2, (4, 6, 8, 12)), (4, (8, 12, 16))):
        for stride in strides:
            yield f"stride {stride}", words, [stride * lane for lane in LANES]


def _random() -> Iterator[tuple[str, int, list[int]]]:
    """Yield random places among so many words."""
    draw = random.Random(5)
    for among in (64, 128, 256, 512, 1024, 2048):
        for number in range(5):
            yield f"random {among} #{number}", 1, [draw.randrange(among) for _ in LANES]
    for among in (128, 512):
        for words in (2, 4):
            for number in range(3):
                yield f"random {among} #{number}", words, [words * draw.randrange(among // words) for _ in LANES]


class Card:
    """The first card, by its driver."""

    def __init__(self, cubin: bytes) -> None:
        """Load the machine code."""
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        context, self.module = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)
        self.call("cuModuleLoadData", ctypes.byref(self.module), cubin)

    def call(self, name: str, *arguments: object) -> None:
        """Call the driver."""
        if error := getattr(self.driver, name)(*arguments):
            raise SystemExit(f"{name}: error {error}")

    def buffer(self, size: int) -> ctypes.c_uint64:
        """Return memory of so many bytes, all zero."""
        place = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(size))
        self.call("cuMemsetD8_v2", place, 0, ctypes.c_size_t(size))
        return place

    def cycles(self, name: str, warps: int, rounds: int, buffers: list[ctypes.c_uint64]) -> int:
        """Return the cycles from the first warp's begin to the last one's end."""
        function, times = ctypes.c_void_p(), (ctypes.c_int64 * (2 * warps))()
        self.call("cuModuleGetFunction", ctypes.byref(function), self.module, name.encode())
        values = [*buffers, ctypes.c_int(rounds)]
        given = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        self.call("cuLaunchKernel", function, 1, 1, 1, 32 * warps, 1, 1, 0, None, given, None)
        self.call("cuMemcpyDtoH_v2", times, buffers[0], ctypes.c_size_t(ctypes.sizeof(times)))
        return max(times[1::2]) - min(times[::2])


def main(cubin: str) -> None:
    """Print the rows."""
    card = Card(Path(cubin).read_bytes())
    buffers = [card.buffer(size) for size in (1024, 1 << 20, 33 * 4, 4096)]
    print(HEAD)  # noqa: T201  (a program of its own)
    for name, words, places in patterns():
        at = (ctypes.c_int * 33)(*(4 * place for place in places), 0)
        card.call("cuMemcpyHtoD_v2", buffers[2], at, ctypes.c_size_t(33 * 4))
        for step, warps in product(STEPS[words], WARPS):
            loop = partial(card.cycles, f"load{words}_{step}", warps, buffers=buffers)
            few, many = (min(loop(rounds) for _ in range(5)) for rounds in ROUNDS)
            print(f"{name},{words},{step},{warps},{few},{many}")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
