"""Texts of C's printf as CUDA has it: conversions of a format, with the arguments as a kernel has laid them out.

https://docs.nvidia.com/cuda/cuda-c-programming-guide/, 10.35: flags # space 0 + -, width, precision, sizes h l ll, and
d i u o x X c f F e E g G a A s p; 32 arguments at most. What is no conversion is printed as it is. Formats may be a
stranger's: a width or precision is WIDEST at most, which is our choice.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

MOST_ARGUMENTS = 32
WIDEST = 1 << 16  # characters that a width or precision asks for
DIGITS = 10  # of a number in a format, more than those of WIDEST
_CONVERSION = re.compile(
    rb"%(?P<flags>[-+ #0]*)(?P<width>\*|\d*)(?P<point>\.(?P<precision>\*|\d*))?(?P<size>[hlLjzt]*)(?P<kind>.|$)", re.S
)
_WIDE = frozenset(b"ljzt")
_SIGNED, _UNSIGNED, _REAL = b"di", b"uoxX", b"fFeEgGaA"
_BITS = {b"hh": 8, b"h": 16}
Text = Callable[[int], bytes]  # the string of an argument, given its place among them


class Arguments:
    """The arguments of a call: bytes in order, each at a multiple of its size; and how many are left."""

    def __init__(self, data: bytes, string: Text) -> None:
        """Begin with the first; `string` gives the text of the one at a place in the data."""
        self.data, self.string, self.place, self.left = data, string, 0, MOST_ARGUMENTS

    def take(self, nbytes: int) -> int:
        """Return the place of the next, of so many bytes; raises IndexError behind the last."""
        place = self.place + -self.place % nbytes
        if not self.left or place + nbytes > len(self.data):
            raise IndexError(place)
        self.place, self.left = place + nbytes, self.left - 1
        return place

    def number(self, nbytes: int) -> int:
        """Return the next as an unsigned whole number."""
        place = self.take(nbytes)
        return int.from_bytes(self.data[place : place + nbytes], "little")


class Shape(NamedTuple):
    """What a conversion says beside its kind; a precision of -1 is none."""

    flags: bytes
    width: int
    precision: int


def text(format: bytes, arguments: Arguments) -> bytes:
    """Return what a format prints; a conversion without an argument is printed as it is."""
    return b"".join(_parts(format, arguments))


def _parts(format: bytes, arguments: Arguments) -> Iterator[bytes]:
    """Yield the text between conversions, and that of each."""
    end = 0
    for match in _CONVERSION.finditer(format):
        if match.start() < end:
            continue
        yield format[end : match.start()]
        end = match.end()
        try:
            yield _converted(match, arguments)
        except IndexError:
            yield match[0]
    yield format[end:]


def _converted(match: re.Match[bytes], arguments: Arguments) -> bytes:
    """Return the text of a conversion; raises IndexError where no argument is left."""
    kind = match["kind"]
    if kind == b"%":
        return b"%"
    if not kind or kind not in b"csp" + _SIGNED + _UNSIGNED + _REAL:
        return match[0]
    flags, width = match["flags"], _count(match["width"], arguments)
    if width is not None and width < 0:
        flags, width = flags + b"-", min(-width, WIDEST)
    precision = _count(match["precision"] or b"0", arguments) if match["point"] else -1
    shape = Shape(flags, width or 0, max(-1, -1 if precision is None else precision))
    return _padded(shape, *_of_kind(kind, match["size"], shape, arguments))


def _count(digits: bytes, arguments: Arguments) -> int | None:
    """Return a width or precision, also that of an argument, WIDEST at most; None if there is none."""
    if digits == b"*":
        return min(_signed(arguments.number(4), 32), WIDEST)
    return min(int(digits.lstrip(b"0")[:DIGITS] or b"0"), WIDEST) if digits else None


def _of_kind(kind: bytes, size: bytes, shape: Shape, arguments: Arguments) -> tuple[bytes, bytes, bool]:
    """Return what comes before padding with zeros (sign, 0x), the rest, and whether zeros may pad it."""
    if kind == b"s":
        found = arguments.string(arguments.take(8))
        return b"", found if shape.precision < 0 else found[: shape.precision], False
    if kind == b"c":
        return b"", bytes([arguments.number(4) & 0xFF]), False
    if kind == b"p":
        address = arguments.number(8)
        return b"", b"0x%x" % address if address else b"(nil)", False
    if kind in _REAL:
        place = arguments.take(8)
        return _real(kind, struct.unpack_from("<d", arguments.data, place)[0], shape, arguments.data[place + 7] >> 7)
    bits = 64 if _WIDE & set(size) else 32
    number = arguments.number(bits // 8)
    return _whole(kind, number, _BITS.get(size, bits), shape)


def _whole(kind: bytes, number: int, bits: int, shape: Shape) -> tuple[bytes, bytes, bool]:
    """Return a whole number of so many bits."""
    number &= (1 << bits) - 1
    if kind in _SIGNED:
        number = _signed(number, bits)
        return _sign(number < 0, shape), _digits(b"%d" % abs(number), shape), shape.precision < 0
    digits = _digits({b"u": b"%d", b"o": b"%o", b"x": b"%x", b"X": b"%X"}[kind] % number, shape)
    head = b""
    if b"#" in shape.flags and kind == b"o" and not digits.startswith(b"0"):
        digits = b"0" + digits
    if b"#" in shape.flags and kind in b"xX" and number:
        head = b"0" + kind
    return head, digits, shape.precision < 0


def _digits(digits: bytes, shape: Shape) -> bytes:
    """Return digits, at least as many as the precision; none for a zero of which none are asked for."""
    return b"" if digits == b"0" and shape.precision == 0 else digits.rjust(shape.precision, b"0")


def _real(kind: bytes, number: float, shape: Shape, negative: int) -> tuple[bytes, bytes, bool]:
    """Return a double's sign and digits."""
    sign, upper = _sign(bool(negative), shape), kind.isupper()
    if not math.isfinite(number):
        word = b"nan" if math.isnan(number) else b"inf"
        return sign, word.upper() if upper else word, False
    if kind in b"aA":
        found = _hexadecimal(abs(number), shape)
        return sign + (b"0X" if upper else b"0x"), found.upper() if upper else found, True
    precision = 6 if shape.precision < 0 else shape.precision
    form = f"%{'#' if b'#' in shape.flags else ''}.{precision}{kind.decode()}"
    return sign, (form % abs(number)).encode(), True


def _hexadecimal(number: float, shape: Shape) -> bytes:
    """Return a number that is not negative as C's %a has it, without 0x: rounded to the nearest, to even at a tie."""
    bits = struct.unpack("<Q", struct.pack("<d", number))[0]
    exponent, fraction = bits >> 52, bits & (1 << 52) - 1
    lead, power = (1, exponent - 1023) if exponent else (0, -1022 if fraction else 0)
    whole = lead << 52 | fraction
    count = 13 if shape.precision < 0 else shape.precision
    if count < 13:
        cut = 4 * (13 - count)
        half, rest = 1 << cut - 1, whole & (1 << cut) - 1
        whole >>= cut
        whole += rest > half or (rest == half and whole & 1)
        whole <<= cut
    digits = f"{whole & (1 << 52) - 1:013x}"
    digits = digits.rstrip("0") if shape.precision < 0 else digits[:count].ljust(count, "0")
    point = "." if digits or b"#" in shape.flags else ""
    return f"{whole >> 52}{point}{digits}p{power:+d}".encode()


def _sign(negative: bool, shape: Shape) -> bytes:
    return b"-" if negative else b"+" if b"+" in shape.flags else b" " if b" " in shape.flags else b""


def _signed(number: int, bits: int) -> int:
    return number - (number >> bits - 1 << bits)


def _padded(shape: Shape, head: bytes, rest: bytes, zeros: bool) -> bytes:
    """Return a conversion's text in its width."""
    if b"-" in shape.flags:
        return (head + rest).ljust(shape.width)
    if zeros and b"0" in shape.flags:
        return head + rest.rjust(shape.width - len(head), b"0")
    return (head + rest).rjust(shape.width)
