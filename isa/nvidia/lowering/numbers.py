"""Numbers in the text of machine code: the patterns that they stand for, and what only the encoding says of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isa.nvidia.file.dump import Encoded
from isa.nvidia.lowering import syntax
from isa.operands.operand import Immediate, Operand
from isa.row import Kind, Row
from isa.values.floating.half import BFLOAT

_PLACE = 32  # bit of the encoding where 32 bits of an immediate begin
_NANS = {"float": 0, "double": 32}  # bits of an immediate's pattern that the encoding does not have
_INFINITY = 0x7F800000  # of singles; the upper word of a double that is a NaN is more than that, too


def with_digits(operand: Operand, encoded: Encoded, row: Row) -> Operand:
    """Return a NaN with the digits of the encoding, which its text does not say; other operands as they are.

    Of a row on halves, where an immediate is two of them, both are those of the encoding.
    """
    if isinstance(operand, Immediate) and row.numbers is Kind.HALVES:
        return replace(operand, bits=encoded.low >> _PLACE)
    if not isinstance(operand, Immediate) or operand.kind not in _NANS:
        return operand
    shift = _NANS[operand.kind]
    nan = operand.bits >> shift & 0x7FFFFFFF > _INFINITY
    return replace(operand, bits=encoded.low >> _PLACE << shift & (1 << 32 + shift) - 1) if nan else operand


def half(number: syntax.Number, row: Row) -> int:
    """Return the pattern of a half, or of a bfloat16 in rows of these."""
    if number.text.lower().startswith("0x"):
        return int(number.text, 16)
    return _pattern(float(number.value), _small(row))


def _pattern(value: float, kind: str) -> int:
    """Return a number as a half or a bfloat16, which has it exactly."""
    return _single(value) >> 16 if kind == "BF16" else int(np.float16(value).view(np.uint16))


def _small(row: Row) -> str:
    """Return the format of a row on halves."""
    return "BF16" if row.code & BFLOAT else "F16"


def immediate(token: syntax.Number, row: Row, width: int) -> Immediate:
    """Return a number's pattern: of rows that take IEEE numbers, a decimal one is such a number."""
    if token.text.lower().lstrip("-+").startswith("0x") or not (row.is_float or token.is_float):
        bits = int(token.text, 0)
        # The code holds 32 bits: of a double the upper ones, of an integer those that are extended by its sign.
        return Immediate((bits << 32 if row.is_float and width == 64 else bits) & ((1 << width) - 1), "int")
    value = float(token.value)
    if row.numbers is Kind.SMALL:
        return Immediate(_pattern(value, _small(row)), "int")
    if width == 64 or row.numbers is Kind.UPPER:
        bits = int(np.float64(value).view(np.uint64))
        return Immediate(bits, "double") if width == 64 else Immediate(bits >> 32, "int")
    return Immediate(_single(value), "float")


def _single(value: float) -> int:
    with np.errstate(over="ignore"):
        return int(np.float32(value).view(np.uint32))
