"""The lines that CUDA writes of assertions that have failed, from the registers of the threads that call __assertfail.

Its arguments, by the ABI (read off nvcc 13.0's code): pointers to the assertion, the file and the function, 64 bits in
R4, R6 and R10, and the line in R8. The line's form is what an H200's host wrote (driver 580.159, 2026-11-30).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from isa.kernel import Dim3, Kernel
from isa.nvidia.system.printed import string_at

MESSAGE, FILE, LINE, FUNCTION = 4, 6, 8, 10
REGISTERS = 12  # of a thread, from R0 on, that have all these


def lines(kernel: Kernel, words: NDArray[np.uint32], block: int, threads: Iterable[tuple[int, Sequence[int]]]) -> str:
    """Return a line for each thread of a block, given as its number with its registers; none without their values."""
    where = _shown(_placed(block, kernel.grid))
    found = ((_shown(_placed(thread, kernel.block)), registers) for thread, registers in threads)
    told = [one for one in found if len(one[1]) == REGISTERS and any(one[1][MESSAGE:])]
    return "".join(_line(words, where, thread, registers) for thread, registers in told)


def _line(words: NDArray[np.uint32], block: str, thread: str, registers: Sequence[int]) -> str:
    message, file, function = (
        string_at(words, registers[at] | registers[at + 1] << 32).decode(errors="replace")
        for at in (MESSAGE, FILE, FUNCTION)
    )
    place = f"{file}:{registers[LINE]}: {function}: block: {block}, thread: {thread}"
    return f"{place} Assertion `{message}` failed.\n"


def _placed(number: int, sizes: Dim3) -> Dim3:
    """Return x, y and z of a block or thread, of which x comes first."""
    x, y, _ = sizes
    return number % x, number // x % y, number // (x * y)


def _shown(place: Dim3) -> str:
    return f"[{','.join(map(str, place))}]"
