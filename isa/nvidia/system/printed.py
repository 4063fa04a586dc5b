"""What kernels have printed: records in a ring of memory, which the host makes texts of when a launch has ended.

A record (functions.cu): its bytes; the format's address; the arguments; the strings among them; its bytes again. As in
CUDA the ring keeps the last records where they are more than its bytes (CUDA C++ Programming Guide 13.0, 10.35.2).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from isa import memory
from isa.kernel import Kernel
from isa.nvidia.system.buffers import HEADER_BYTES, PRINTED
from isa.nvidia.system.conversions import Arguments, text

LONGEST = 1 << 16  # bytes of a string
MOST_BYTES = 64 << 20  # of all text of a launch: a choice, some 1,000 for each of the most records of 1 MiB
LEFT_OUT = b"\n[gpusim: more than 64 MiB are printed; the rest is left out]\n"
NULL = b"(null)"


def prints(kernel: Kernel) -> bool:
    """Tell whether a kernel's launch has memory to print to."""
    return any(one.name == PRINTED for one in kernel.buffers)


def printed(kernel: Kernel, words: NDArray[np.uint32]) -> str:
    """Return what a kernel has printed, as global memory (its words) has it after the launch."""
    return printed_in(words, memory.bases(kernel.buffers)[PRINTED]) if prints(kernel) else ""


def printed_in(words: NDArray[np.uint32], place: int) -> str:
    """Return what is printed in memory, whose buffer PRINTED begins at that byte."""
    return raw_in(words, place).decode(errors="replace")


def raw_in(words: NDArray[np.uint32], place: int) -> bytes:
    """Return the same as the bytes that kernels gave: MOST_BYTES at most, with a line that says so if they are more."""
    parts, left = list[bytes](), MOST_BYTES
    for record in _records(words.view(np.uint8), place):
        told = _text(words, record)
        parts.append(told[:left])
        if len(told) > left:
            parts.append(LEFT_OUT)
            break
        left -= len(told)
    return b"".join(parts)


def cleared(words: NDArray[np.uint32], place: int) -> None:
    """Forget what is printed in memory, as a host does when it has written it out."""
    words[place // 4 + 1] = 0


def _records(held: NDArray[np.uint8], place: int) -> Sequence[bytes]:
    """Return the records of a ring, without the numbers of their bytes, in their order."""
    size, written = (int(one) for one in held[place : place + 8].view(np.uint32))
    ring = held[place + HEADER_BYTES : place + HEADER_BYTES + size]
    last = written % size if size else 0
    line = (np.concatenate([ring[last:], ring[:last]]) if written > size else ring[:written]).tobytes()
    return list(_backwards(line))[::-1]


def _backwards(line: bytes) -> Iterator[bytes]:
    """Yield the whole records at a line's end, the last first."""
    end = len(line)
    while end >= 16:
        (size,) = struct.unpack_from("<I", line, end - 4)
        if not 16 <= size <= end:
            return
        yield line[end - size + 4 : end - 4]
        end -= size


def _text(words: NDArray[np.uint32], record: bytes) -> bytes:
    """Return the text of a record."""
    format = string_at(words, int.from_bytes(record[:8], "little"))
    return text(format, Arguments(record[8:], _strings(record[8:])))


def _strings(record: bytes) -> Callable[[int], bytes]:
    """Return a function that gives the string of an argument at a place of a record behind its format."""

    def string(place: int) -> bytes:
        (begin,) = struct.unpack_from("<I", record, place)
        return record[begin:].partition(b"\0")[0] if begin else NULL

    return string


def string_at(words: NDArray[np.uint32], address: int) -> bytes:
    """Return the string at a 64-bit address of global memory; nothing where there is none."""
    from isa.nvidia.abi.launch import WINDOW  # noqa: PLC0415  (start-up time)

    place, held = address - WINDOW, words.view(np.uint8)
    if not 0 < place < len(held):
        return b""
    return held[place : place + LONGEST].tobytes().partition(b"\0")[0]
