"""Constant expressions of C: numbers, names, operators, casts, sizeof, min and max, dim3."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from isa.nvidia.file.signature import ELEMENTS
from isa.nvidia.host.text import parts

Number = int | float
Dim = tuple[int, ...]
Value = int | float | Dim
LARGEST = 1 << 64  # numbers from here on are no sizes
DEEPEST = 40  # brackets and names within each other
LONGEST = 2000  # letters of an expression
_TOKEN = re.compile(
    r"\s*(?:(?P<real>(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?[fFlL]?|\d+[eE][-+]?\d+[fF]?)"
    r"|(?P<whole>0[xX][0-9a-fA-F']+|0[bB][01']+|\d[\d']*)[uUlLzZ]*"
    r"|(?P<name>[A-Za-z_]\w*(?:::\w+)*)|(?P<sign><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>?:!~&|^(){}.,]))"
)
_TYPES = re.compile(
    r"(?:const\s+)?(?:unsigned|signed|int|long|short|char|float|double|bool|size_t|u?int\d+_t|std::size_t)"
    r"(?:\s+(?:unsigned|int|long|short|char))*"
)
_CAST = re.compile(rf"\s*\(\s*({_TYPES.pattern})\s*\)(?!\s*[,;?:)*/%<>=&|^]|\s*$)")
_OF_CPP = re.compile(rf"\s*static_cast\s*<\s*({_TYPES.pattern})\s*>")
_SIZEOF = re.compile(r"\s*sizeof\s*\(\s*([\w\s]+?)\s*(\*?)\s*\)")
_SIZES: Mapping[str, int] = {
    **{name: np.dtype(kind).itemsize for name, kind in ELEMENTS.items()},
    "unsigned int": 4, "size_t": 8, "half": 2, "float2": 8, "float3": 12, "float4": 16, "int2": 8, "int4": 16,
    "double2": 16, "uint2": 8, "uint4": 16, "int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4,
    "uint32_t": 4, "int64_t": 8, "uint64_t": 8,
}  # fmt: skip


class UnknownError(ValueError):
    """An expression whose value isn't known; the message is the part that isn't."""


def _divided(a: Number, b: Number) -> Number:
    if not b:
        raise UnknownError("a division by zero")
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return a / b


def _rest(a: int, b: int) -> Number:
    return a - b * _divided(a, b)


def _shifted(a: int, b: int) -> int:
    if not 0 <= b < 64:
        raise UnknownError(f"a shift by {b}")
    return a << b


_LEVELS: Sequence[Mapping[str, Callable[..., Number]]] = (
    {"||": lambda a, b: int(bool(a) or bool(b))},
    {"&&": lambda a, b: int(bool(a) and bool(b))},
    {"|": operator.or_},
    {"^": operator.xor},
    {"&": operator.and_},
    {"==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b)},
    {
        "<": lambda a, b: int(a < b),
        ">": lambda a, b: int(a > b),
        "<=": lambda a, b: int(a <= b),
        ">=": lambda a, b: int(a >= b),
    },
    {"<<": _shifted, ">>": lambda a, b: a >> min(max(b, 0), 64)},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": _divided, "%": _rest},
)
_UNARY: Mapping[str, Callable[..., Number]] = {
    "-": operator.neg, "+": operator.pos, "!": operator.not_, "~": operator.invert,
}  # fmt: skip
_FUNCTIONS: Mapping[str, Callable[..., Number]] = {
    "min": min, "max": max, "abs": abs, "ceil": lambda a: float(math.ceil(a)), "ceilf": lambda a: float(math.ceil(a)),
    "floor": lambda a: float(math.floor(a)), "sqrt": math.sqrt, "sqrtf": math.sqrt, "log2": math.log2,
    "log2f": math.log2, "pow": lambda a, b: float(a**b) if abs(b) < 64 else math.inf,
}  # fmt: skip
_CONSTANTS = {"true": 1, "false": 0, "NULL": 0, "nullptr": 0, "argc": 1}  # a program that is given no arguments
Known = Callable[[str, int], Value]  # what a name is, at a depth
Called = Callable[[str, Sequence[str], int], Value | None]  # what a call of a macro is; None: it is none


def evaluate(text: str, known: Known, called: Called, depth: int = 0) -> Value:
    """Return the value of an expression; raises UnknownError, with the part that is not known.

    `known(name, depth)` gives a name's value, `called(name, arguments, depth)` that of a macro with arguments.
    """
    if len(text) > LONGEST or depth > DEEPEST:
        raise UnknownError(f"{text[:40].strip()} ...")
    reader = _Reader(text, known, called, depth)
    try:
        found = reader.choice()
    except RecursionError:
        raise UnknownError(f"{text[:40].strip()} ...") from None
    if text[reader.at :].strip():
        raise UnknownError(text.strip())
    return _bounded(found, text)


def number(value: Value) -> Number:
    """Return a value that is a number; raises UnknownError for a dim3."""
    if isinstance(value, tuple):
        raise UnknownError("a dim3 in the place of a number")
    return value


def _bounded(value: Value, text: str) -> Value:
    if isinstance(value, int | float) and not abs(value) < LARGEST:
        raise UnknownError(text.strip())
    return value


class _Reader:
    """A place in an expression: each method reads one part, and leaves the place behind it."""

    def __init__(self, text: str, known: Known, called: Called, depth: int) -> None:
        self.text, self.known, self.called, self.depth, self.at = text, known, called, depth, 0

    def choice(self) -> Value:
        """Read `a ? b : c`, or what binds more tightly; only the part that is chosen need be known."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise UnknownError(self.text.strip())
        found = self.level(0)
        if self.taken("?"):
            found = self._chosen(bool(number(found)))
        self.depth -= 1
        return found

    def _chosen(self, first: bool) -> Value:
        begin, depth, place = self.at, 0, self.at
        while place < len(self.text) and (depth or self.text[place] != ":" or "::" in self.text[place - 1 : place + 2]):
            depth += (self.text[place] in "(?") - (self.text[place] in "):")
            place += 1
        then, self.at = self.text[begin:place], len(self.text)
        return evaluate(then if first else self.text[place + 1 :], self.known, self.called, self.depth)

    def level(self, level: int) -> Value:
        """Read operators of one level from left to right."""
        if level == len(_LEVELS):
            return self.unary()
        found = self.level(level + 1)
        while (sign := self._next_sign()) in _LEVELS[level]:
            self.taken(sign)
            found = self._applied(_LEVELS[level][sign], number(found), number(self.level(level + 1)))
        return found

    def _applied(self, rule: Callable[..., Number], *values: Number) -> Number:
        try:
            found = rule(*values)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise error if isinstance(error, UnknownError) else UnknownError(self.text.strip()) from None
        return number(_bounded(found, self.text))

    def unary(self) -> Value:
        """Read a sign, a cast, or what they stand before."""
        if cast := _CAST.match(self.text, self.at):
            self.at = cast.end()
            return _as_type(cast[1], number(self.unary()))
        for sign, rule in _UNARY.items():
            if self.taken(sign):
                return self._applied(rule, number(self.unary()))
        found = self.primary()
        while self.taken("."):
            member = self._token("name")
            if not isinstance(found, tuple) or member not in ("x", "y", "z"):
                raise UnknownError(self.text.strip())
            found = (*found, 1, 1)["xyz".index(member)]
        return found

    def primary(self) -> Value:
        """Read a number, a name, a call, or an expression in brackets."""
        if self.taken("("):
            return self._bracketed()
        if size := _SIZEOF.match(self.text, self.at):
            self.at = size.end()
            return _size(size)
        if cast := _OF_CPP.match(self.text, self.at):
            self.at = cast.end()
            return _as_type(cast[1], number(self.primary()))
        match = _TOKEN.match(self.text, self.at)
        if match is None or match["sign"]:
            raise UnknownError(self.text.strip())
        self.at = match.end()
        if match["real"]:
            return float(match["real"].rstrip("fFlL"))
        if match["whole"]:
            return _whole(match["whole"])
        return self._named(match["name"])

    def _bracketed(self) -> Value:
        end = self._end()
        found = evaluate(self.text[self.at : end], self.known, self.called, self.depth)
        self.at = end + 1
        return found

    def _end(self) -> int:
        depth = 0
        for place in range(self.at, len(self.text)):
            if depth == 0 and self.text[place] in ")}":
                return place
            depth += (self.text[place] in "({") - (self.text[place] in ")}")
        raise UnknownError(self.text.strip())

    def _named(self, name: str) -> Value:
        name = name.removeprefix("std::")
        if not (self.taken("(") or (name == "dim3" and self.taken("{"))):
            return _CONSTANTS[name] if name in _CONSTANTS else self.known(name, self.depth + 1)
        end = self._end()
        words = _split(self.text[self.at : end])
        self.at = end + 1
        found = self.called(name, words, self.depth + 1)
        if found is not None:
            return found
        if name == "dim3":
            return dim(self._each(words))
        if _TYPES.fullmatch(name) and len(words) == 1:
            return _as_type(name, number(self._each(words)[0]))
        if name not in _FUNCTIONS:
            raise UnknownError(f"{name}(...)")
        return self._applied(_FUNCTIONS[name], *map(number, self._each(words)))

    def _each(self, words: Sequence[str]) -> list[Value]:
        return [evaluate(one, self.known, self.called, self.depth + 1) for one in words]

    def taken(self, sign: str) -> bool:
        """Go behind a sign if it comes next; tell whether it did."""
        if self._next_sign() != sign:
            return False
        self.at = self.text.index(sign, self.at) + len(sign)
        return True

    def _next_sign(self) -> str:
        match = _TOKEN.match(self.text, self.at)
        return (match["sign"] or "") if match else ""

    def _token(self, kind: str) -> str:
        match = _TOKEN.match(self.text, self.at)
        if match is None or not match[kind]:
            raise UnknownError(self.text.strip())
        self.at = match.end()
        return match[kind]


def dim(values: Sequence[Value]) -> Dim:
    """Return a dim3 of these numbers, or the one that is given; raises UnknownError for others."""
    if len(values) == 1 and isinstance(values[0], tuple):
        return values[0]
    if len(values) > 3:
        raise UnknownError("a dim3 of more than three numbers")
    return tuple(int(number(one)) for one in values) or (1,)


def _split(text: str) -> list[str]:
    return parts(text, 0)[0]


def _whole(text: str) -> int:
    digits = text.replace("'", "").lower()
    octal = len(digits) > 1 and digits[0] == "0" and digits.isdecimal()
    try:
        return int(digits, 8) if octal else int(digits, 0)
    except ValueError:
        raise UnknownError(text) from None


def _as_type(kind: str, value: Number) -> Number:
    """Return a number as one of a type of C, as its bits say; raises UnknownError where C leaves it open."""
    words = set(re.findall(r"\w+", kind))
    if not abs(value) < LARGEST:
        raise UnknownError(f"a number too large for {kind}")
    if words & {"float", "double"}:
        return float(value)
    if "bool" in words:
        return int(value != 0)
    bits, whole = _bits(kind, words), int(value)
    natural = words & {"unsigned", "size_t"} or any(re.match(r"uint\d", word) for word in words)
    least = 0 if natural else -1 << (bits - 1)
    if isinstance(value, float) and not least <= whole < least + (1 << bits):
        raise UnknownError(f"a number too large for {kind}")
    return (whole - least) % (1 << bits) + least


def _bits(kind: str, words: set[str]) -> int:
    """Return the bits of a type of whole numbers; raises UnknownError for one that there isn't."""
    if sized := re.search(r"int(8|16|32|64)_t$", kind):
        return int(sized[1])
    if kind.endswith("_t") and "size_t" not in words:
        raise UnknownError(kind)
    return 64 if words & {"long", "size_t"} else 16 if "short" in words else 8 if "char" in words else 32


def _size(match: re.Match[str]) -> int:
    kind = " ".join(match[1].split()).removeprefix("const ")
    if match[2]:
        return 8
    if kind not in _SIZES:
        raise UnknownError(f"sizeof({kind})")
    return _SIZES[kind]
