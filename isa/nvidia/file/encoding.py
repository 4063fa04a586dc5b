"""The control code in an instruction's 128 bits, alike from sm_70 to sm_121.

Bits 105 to 108 are the stall count, bit 109 is 0 where the warp yields, 110 to 112 and 113 to 115 are the barriers of
the write and of the reads (7: none), 116 to 121 the mask of barriers waited for, 122 to 125 the operands that are kept
for reuse. Source: maxas' and CuAssembler's descriptions, and measured on an H200 by editing them.
"""

from __future__ import annotations

from functools import cache

from isa.nvidia.control import Control

BYTES = 16  # of an instruction
NO_BARRIER = 7
_CODE = (1 << 17) - 1 << 41  # bits of the upper 64


def control(word: int) -> Control:
    """Return the control code of an instruction's upper 64 bits; of equal codes the same object."""
    return _control(word & _CODE)


@cache
def _control(word: int) -> Control:
    write, read = word >> 46 & 7, word >> 49 & 7
    return Control(
        stall=word >> 41 & 15,
        yields=not word >> 45 & 1,
        read_barrier=None if read == NO_BARRIER else read,
        write_barrier=None if write == NO_BARRIER else write,
        waits=word >> 52 & 63,
    )


def reuse(word: int) -> int:
    """Return the mask of source operands that an instruction keeps for reuse, the first in bit 0."""
    return word >> 58 & 15
