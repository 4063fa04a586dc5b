"""Times the loops of tests/measured/fetch.cu on a card: how fast instructions come to one SM, to some, and to all.

`python3 fetch.py fetch.cubin > h200_fetch.csv` needs nothing but the driver.
"""

from __future__ import annotations

import ctypes
import random
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rows import Card

SMS = 132
NEAR = 0, 1, 16, 17, 32, 33, 48, 49  # SMs that blocks of one cluster ran on
ROUNDS, UNTIMED = 11, 3
ONE_BLOCK = 200 << 10  # bytes of shared memory of a block, so that an SM has one
DYNAMIC_BYTES = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
HEAD = """\
# NVIDIA H200, SM clock 1980 MHz, 2026-11-28: cycles for each line of 128 bytes, from the first warp's fourth round of a
# loop to the last warp's end, in the mean of all SMs, the second least of four launches, as tests/measured/fetch.cu
# says; `apart`: each SM begins at a random time in a round or two
kilobytes,warps,sms,apart,cycles"""


class Loop(NamedTuple):
    """Code of a loop, warps of each SM, SMs that run it, and whether these begin apart."""

    kilobytes: int
    warps: int
    sms: int
    apart: int

    @property
    def lines(self) -> int:
        """Lines of 128 bytes of a round."""
        return 8 * self.kilobytes


def loops() -> Iterator[Loop]:
    """Yield all loops."""
    for kilobytes, warps, sms, apart in product(
        (24, 32, 40, 48, 64, 80, 112), (4, 8, 12, 16, 24, 32), (1, 8, SMS), (0, 1)
    ):
        if sms == SMS or not apart:
            yield Loop(kilobytes, warps, sms, apart)


def begins(loop: Loop) -> list[int]:
    """Return after how many cycles each SM begins, -1 if it does nothing."""
    on = range(SMS) if loop.sms == SMS else NEAR[: loop.sms]
    longest = 128 * loop.kilobytes * max(2, loop.warps // 4) * loop.apart
    return [random.randrange(longest + 1) if one in on else -1 for one in range(SMS)]


def line_cycles(card: Card, loop: Loop, buffers: list[ctypes.c_uint64]) -> float:
    """Return the cycles of a line, in the mean of all SMs."""
    function, clocks = ctypes.c_void_p(), (ctypes.c_uint32 * (64 * SMS))()
    card.call("cuModuleGetFunction", ctypes.byref(function), card.module, f"loop{loop.kilobytes}".encode())
    card.call("cuFuncSetAttribute", function, DYNAMIC_BYTES, ONE_BLOCK)
    after = begins(loop)
    card.call("cuMemcpyHtoD_v2", buffers[1], (ctypes.c_int * SMS)(*after), ctypes.c_size_t(4 * SMS))
    values = [*buffers[:2], ctypes.c_int(ROUNDS), ctypes.c_float(1.0001), buffers[2]]
    given = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
    card.call("cuLaunchKernel", function, SMS, 1, 1, 32 * loop.warps, 1, 1, ONE_BLOCK, None, given, None)
    card.call("cuMemcpyDtoH_v2", clocks, buffers[0], ctypes.c_size_t(ctypes.sizeof(clocks)))
    on = [one for one in range(SMS) if after[one] >= 0]
    each = [whole(clocks[64 * one : 64 * one + loop.warps], clocks[64 * one + 32 :][: loop.warps]) for one in on]
    return sum(each) / len(each) / (ROUNDS - UNTIMED) / loop.lines


def whole(begin: list[int], end: list[int]) -> int:
    """Return the cycles from the first begin to the last end; clocks have 32 bits."""
    since = min((one - begin[0] + 2**31) % 2**32 for one in begin)
    return max((one - begin[0] + 2**31) % 2**32 for one in end) - since


def main(cubin: str) -> None:
    """Print the rows."""
    from rows import Card  # noqa: PLC0415  (the test that reads the loops does not look beside this file)

    random.seed(1)
    card = Card(Path(cubin).read_bytes())
    buffers = [card.buffer(size) for size in (256 * SMS, 4 * SMS, 4096)]
    print(HEAD)  # noqa: T201  (a program of its own)
    for loop in loops():
        cycles = sorted(line_cycles(card, loop, buffers) for _ in range(4))[1]
        print(f"{','.join(map(str, loop))},{cycles:.2f}")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
