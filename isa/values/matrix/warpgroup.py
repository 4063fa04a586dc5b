"""What a matrix instruction of a warpgroup says in its row's code, and where its operands lie in shared memory.

The code has the types of A and B, four bits each, flags, and the columns. A descriptor has 64 bits (PTX ISA, "Matrix
descriptor"): the place of the first element, two distances, and how rows of 16 bytes are mixed (swizzled).

An operand has 32 bytes of each of its rows (of B: columns), in two blocks of 16 bytes; of a sparse A these are half of
its numbers, and B has 64 bytes. If its rows lie in memory one after the other it is *turned*: then a group of 8 k lies
as 8 rows of the span, along rows of the matrix.
"""

from __future__ import annotations

from typing import Any

F16, BF16, TF32, E4M3, E5M2, BYTE, UNSIGNED_BYTE, BIT = range(8)  # types of A and B
HALVES, SATURATED = 1 << 8, 1 << 9  # the sum is of halves; it is clamped
NEGATED_A, NEGATED_B, TURNED_A, TURNED_B = (1 << bit for bit in range(10, 14))
FROM_REGISTERS, SPARSE = 1 << 14, 1 << 15  # A is
COLUMNS = 16  # the lowest bit of their number
ROWS, ROWS_OF_WARP = 64, 16
ADDRESS_MASK = 0x3FFFF  # of 18 bits
PLAIN, SPAN_128, SPAN_64, SPAN_32 = range(4)  # how a descriptor says that rows are mixed


def code_of(columns: int, flags: int, from_registers: bool, sparse: bool) -> int:
    """Return the code of a row."""
    return columns << COLUMNS | flags | (FROM_REGISTERS if from_registers else 0) | (SPARSE if sparse else 0)


def columns_of(code: int) -> int:
    """Return the columns of the result."""
    return code >> COLUMNS


def rows_read(code: int, columns: int) -> int:
    """Return how many rows of 32 bytes of its matrices lie in shared memory: a column of B has two if A is sparse."""
    return (0 if code & FROM_REGISTERS else ROWS) + columns * (2 if code & SPARSE else 1)


def span_bits_of(high: int) -> int:
    """Return the bits of an address inside the bytes that lie together in a row; of the upper word of a descriptor."""
    mode = high >> 30 & 3
    return 4 if mode == PLAIN else 8 - mode


def span_of(high: int) -> int:
    """Return the bytes that lie together in a row, 16 where nothing is mixed."""
    return 1 << span_bits_of(high)


def mixed(address: int, high: int) -> int:
    """Return where the byte of an address lies: bits 4 to 6 change with bits 7 to 9, counted from the pattern."""
    row = (address >> 7) - (high >> 17 & 7)
    return address ^ (row & ((span_of(high) >> 4) - 1)) << 4


def place_of(low: int, high: int, row: int, block: int) -> int:
    """Return the address of a block of 16 bytes of a row, from the words of the descriptor of its operand."""
    start, leading, stride = (low & 0x3FFF) << 4, (low >> 16 & 0x3FFF) << 4, (high & 0x3FFF) << 4
    span = span_of(high)
    along = 16 * block // span * leading + 16 * block % span
    return mixed(start + (row >> 3) * stride + (row & 7) * span + along & ADDRESS_MASK, high)


def turned_place_of(low: int, high: int, row: int, k: int) -> int:
    """Return the address of element k, of 16 bits, of a row of a turned operand; eight rows lie together."""
    start, leading, stride = (low & 0x3FFF) << 4, (low >> 16 & 0x3FFF) << 4, (high & 0x3FFF) << 4
    bits = span_bits_of(high)
    if bits == 4:  # the two distances have changed places
        leading, stride = stride, leading
    along = 2 * row
    address = start + (along >> bits) * leading + (k >> 3) * stride + ((k & 7) << bits) + (along & (1 << bits) - 1)
    return mixed(address & ADDRESS_MASK, high)


def sign_bits(kind: int) -> int:
    """Return where in a word the signs of numbers of a type are; none of whole numbers."""
    if kind == TF32:
        return 0x80000000
    return 0x80808080 if kind in (E4M3, E5M2) else 0x80008000


PARTS: tuple[Any, ...] = (rows_read, span_bits_of, span_of, mixed, place_of, turned_place_of, sign_bits)
