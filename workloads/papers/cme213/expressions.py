"""Expressions of C as the instructions that a compiler for Fermi makes of them, one entry each.

They come in pairs, what programs write and what guides advise: double and single precision; a division of integers by a
number that only the launch knows, and a shift; a reciprocal of a square root, and both at once; constants without `f`,
and with it; functions of the mathematical library, and intrinsics of the hardware. Sources: the CUDA C Programming
Guide 4.2, section 5.4.1 (division of integers: under 20 instructions), its appendix C and the PTX ISA for what the
intrinsics are (`div.approx`, `sin.approx`, `ex2.approx`). No compiler's output is at hand: division and root in single
precision are reciprocals and Newton's steps with FFMA, functions are a reduction by constants of two words and a
polynomial, as usual. Denormals are flushed (-ftz=true), which spares the intrinsics a scaling.

Left out is what would cost the slow sides more: the branches behind the comparisons that are here, and the paths to
which they lead for arguments out of range. Left out of the fast side is RRO, which prepares the arguments of MUFU.SIN
and MUFU.EX2 on Fermi: no rate of it is published.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, pi
from typing import Any

import numpy as np

from isa.operands.operand import Predicate, Register
from workloads.builder import Builder

LOG2_E = 1.4426950408889634
LOG_2 = 0.693147182464599609375, -1.904654299957768e-9  # in two words, a single each
HALF_PI = 1.57079637050628662109375, -4.371139000186241e-8  # likewise
ROUNDER = 12582912.0  # 3 times 2**22: a sum with it is a whole number, which its lowest bits hold
SIN = -1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1
COS = 2.44331571e-5, -1.38873162e-3, 4.16666456e-2, -0.5
FIRST, SECOND = Predicate(2), Predicate(3)
TEMPORARIES = ("t0", "t1", "t2")

Named = dict[str, Register]
Exact = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Expression:
    """`emit` appends the instructions of out = f(x, y); `exact` is f of doubles, or of integers.

    The result lies within `ulps` units in the last place. Arguments in floating point lie between `low` and `high`.
    """

    emit: Callable[[Builder, Named], None]
    exact: Exact
    dtype: str = "f4"
    ulps: float = 0.0
    low: float = 0.0
    high: float = 1.0

    @property
    def words(self) -> int:
        """32-bit registers of each argument and of the result."""
        return np.dtype(self.dtype).itemsize // 4

    @property
    def is_integer(self) -> bool:
        """Whether its arguments are integers."""
        return self.dtype == "u4"


def _minus(register: Register) -> Register:
    return replace(register, negated=True)


def _multiply_add(mnemonic: str) -> Callable[[Builder, Named], None]:
    return lambda b, r: b.emit(mnemonic, r["out"], r["x"], r["y"], r["x"])


def _divide(b: Builder, r: Named, quotient: Register, remainder: Register) -> None:
    """Quotient and remainder by the reciprocal in fixed point, the quotient at most two too small, then once corrected.

    Right for dividends from 0 and divisors from 3, both below 2**31; the last correction is left to the caller.
    """
    x, y, t = r["x"], r["y"], r["t0"]
    b.emit("I2F", t, y)
    b.emit("MUFU.RCP", t, t)
    b.emit("IADD", t, t, 0x0FFFFFFE)  # the single times 2**32, less two units in the last place
    b.emit("F2I", t, t)
    b.emit("IMUL", remainder, t, y)
    b.emit("IADD", remainder, _minus(remainder), 0)
    b.emit("IMAD.HI", t, t, remainder, t)
    b.emit("IMUL.HI", quotient, t, x)
    b.emit("IMAD", remainder, _minus(quotient), y, x)
    b.emit("ISETP.GE.U32", FIRST, remainder, y)
    b.emit("IADD", remainder, remainder, _minus(y), guard=FIRST)


def _integer_division(b: Builder, r: Named) -> None:
    out, remainder = r["out"], r["t1"]
    _divide(b, r, out, remainder)
    b.emit("IADD", out, out, 1, guard=FIRST)
    b.emit("ISETP.GE.U32", FIRST, remainder, r["y"])
    b.emit("IADD", out, out, 1, guard=FIRST)
    _by_zero(b, r)


def _integer_modulo(b: Builder, r: Named) -> None:
    out = r["out"]
    _divide(b, r, r["t1"], out)
    b.emit("ISETP.GE.U32", FIRST, out, r["y"])
    b.emit("IADD", out, out, _minus(r["y"]), guard=FIRST)
    _by_zero(b, r)


def _by_zero(b: Builder, r: Named) -> None:
    b.emit("ISETP.EQ", SECOND, r["y"], 0)
    b.emit("MOV", r["out"], 0xFFFFFFFF, guard=SECOND)


def _by_bits(mnemonic: str, name: str) -> Callable[[Builder, Named], None]:
    """Shift or mask by a constant of the launch; a compiler would know it."""
    return lambda b, r: b.emit(mnemonic, r["out"], r["x"], name)


def _reciprocal_root(b: Builder, r: Named) -> None:
    b.emit("MUFU.RSQ", r["out"], r["x"])


def _root(b: Builder, r: Named, root: Register) -> None:
    x, t0, t1 = r["x"], r["t0"], r["t1"]
    b.emit("IADD", t0, x, -0x0D000000)  # whether the argument is far from zero and infinity
    b.emit("ISETP.GT.U32", FIRST, t0, 0x727FFFFF)
    b.emit("MUFU.RSQ", t0, x)
    b.emit("FMUL", root, x, t0)
    b.emit("FMUL", t0, t0, 0.5)
    b.emit("FFMA", t1, _minus(root), root, x)
    b.emit("FFMA", root, t1, t0, root)


def _reciprocal_of_root(b: Builder, r: Named) -> None:
    root, out, t = r["t2"], r["out"], r["t0"]
    _root(b, r, root)
    b.emit("IADD", t, root, 0x01800000)  # likewise
    b.emit("LOP.AND", t, t, 0x7F800000)
    b.emit("ISETP.GT.U32", FIRST, t, 0x01FFFFFF)
    b.emit("MUFU.RCP", out, root)
    b.emit("FFMA", t, _minus(root), out, 1.0)
    b.emit("FFMA", out, out, t, out)


def _single_constant(b: Builder, r: Named) -> None:
    b.emit("FMUL", r["out"], r["x"], pi)


def _double_constant(b: Builder, r: Named) -> None:
    b.emit("F2F.F64.F32", r["wide"], r["x"])
    b.emit("DMUL", r["wide"], r["wide"], pi)
    b.emit("F2F.F32.F64", r["out"], r["wide"])


def _division(b: Builder, r: Named) -> None:
    x, y, out, t0, t1 = (r[name] for name in ("x", "y", "out", "t0", "t1"))
    for number in (y, x):  # whether its exponent is that of a normal number
        b.emit("SHR.U32", t0, number, 23)
        b.emit("LOP.AND", t0, t0, 0xFF)
        b.emit("IADD", t0, t0, -1)
        b.emit("ISETP.GT.U32", FIRST, t0, 0xFD)
    b.emit("MUFU.RCP", t0, y)
    b.emit("FFMA", t1, _minus(y), t0, 1.0)
    b.emit("FFMA", t0, t0, t1, t0)
    b.emit("FMUL", out, x, t0)
    for _ in range(2):
        b.emit("FFMA", t1, _minus(y), out, x)
        b.emit("FFMA", out, t1, t0, out)


def _fast_division(b: Builder, r: Named) -> None:
    b.emit("MUFU.RCP", r["t0"], r["y"])
    b.emit("FMUL", r["out"], r["x"], r["t0"])


def _whole(b: Builder, r: Named, scale: float) -> None:
    """Set t0 to the whole number next to x times `scale`; the lowest bits of t1 are its own."""
    b.emit("FMUL", r["t0"], r["x"], scale)
    b.emit("FADD", r["t1"], r["t0"], ROUNDER)
    b.emit("FADD", r["t0"], r["t1"], -ROUNDER)


def _sine(b: Builder, r: Named) -> None:
    x, out, t0, t1, t2 = (r[name] for name in ("x", "out", "t0", "t1", "t2"))
    b.emit("FSETP.GT", FIRST, x, 48039.0)
    _whole(b, r, 2 / pi)
    b.emit("FFMA", t2, t0, -HALF_PI[0], x)
    b.emit("FFMA", t2, t0, -HALF_PI[1], t2)
    b.emit("FMUL", t0, t2, t2)
    b.emit("LOP.AND", out, t1, 1)
    b.emit("ISETP.NE", FIRST, out, 0)
    b.emit("LOP.AND", t1, t1, 2)
    b.emit("ISETP.NE", SECOND, t1, 0)
    _polynomial(b, (out, t0), SIN, Predicate(FIRST.index, negated=True))
    _polynomial(b, (out, t0), COS, FIRST)
    b.emit("FMUL", out, out, t0, guard=Predicate(FIRST.index, negated=True))
    b.emit("FFMA", out, out, t2, t2, guard=Predicate(FIRST.index, negated=True))
    b.emit("FFMA", out, out, t0, 1.0, guard=FIRST)
    b.emit("FMUL", out, out, -1.0, guard=SECOND)


def _polynomial(b: Builder, registers: tuple[Register, Register], factors: tuple[float, ...], guard: Predicate) -> None:
    out, argument = registers
    b.emit("MOV", out, factors[0], guard=guard)
    for factor in factors[1:]:
        b.emit("FFMA", out, out, argument, factor, guard=guard)


def _fast_sine(b: Builder, r: Named) -> None:
    b.emit("MUFU.SIN", r["out"], r["x"])


def _exponential(b: Builder, r: Named) -> None:
    x, out, t0, t1 = r["x"], r["out"], r["t0"], r["t1"]
    _whole(b, r, LOG2_E)
    b.emit("FFMA", t1, t0, -LOG_2[0], x)
    b.emit("FFMA", t1, t0, -LOG_2[1], t1)
    b.emit("FMUL", t1, t1, LOG2_E)
    b.emit("MUFU.EX2", t1, t1)
    b.emit("MUFU.EX2", t0, t0)
    b.emit("FMUL", out, t1, t0)
    for relation, limit, value in (("LT", -105.0, 0.0), ("GT", 105.0, inf)):
        b.emit(f"FSETP.{relation}", FIRST, x, limit)
        b.emit("MOV", out, value, guard=FIRST)


def _fast_exponential(b: Builder, r: Named) -> None:
    b.emit("FMUL", r["t0"], r["x"], LOG2_E)
    b.emit("MUFU.EX2", r["out"], r["t0"])


def _sum_of_product(x: Any, y: Any) -> Any:
    return x * y + x


def _pi_times(x: Any, _y: Any) -> Any:
    return np.float32(x * pi)


def _single_pi_times(x: Any, _y: Any) -> Any:
    return np.float32(x) * np.float32(pi)


def _over_root(x: Any, _y: Any) -> Any:
    return 1.0 / np.sqrt(x)


def _sin(x: Any, _y: Any) -> Any:
    return np.sin(x)


def _exp(x: Any, _y: Any) -> Any:
    return np.exp(x)


# fmt: off
EXPRESSIONS = {
    #                        instructions             exact             type  ulps    arguments
    "single":     Expression(_multiply_add("FFMA"),   _sum_of_product,  "f4", 0.5,    1.0,  8.0),
    "double":     Expression(_multiply_add("DFMA"),   _sum_of_product,  "f8", 1.0,    1.0,  8.0),
    "shift":      Expression(_by_bits("SHR.U32", "bits"), np.floor_divide, "u4"),
    "int-div":    Expression(_integer_division,       np.floor_divide,  "u4"),
    "mask":       Expression(_by_bits("LOP.AND", "mask"), np.remainder,  "u4"),
    "int-mod":    Expression(_integer_modulo,         np.remainder,     "u4"),
    "rsqrtf":     Expression(_reciprocal_root,        _over_root,       "f4", 1.0,    0.1,  90.0),
    "1/sqrtf":    Expression(_reciprocal_of_root,     _over_root,       "f4", 1.5,    0.1,  90.0),
    "pi-f":       Expression(_single_constant,        _single_pi_times, "f4", 0.0,    1.0,  8.0),
    "pi":         Expression(_double_constant,        _pi_times,        "f4", 0.0,    1.0,  8.0),
    "__fdividef": Expression(_fast_division,          np.divide,        "f4", 2.0,    1.0,  90.0),
    "divide":     Expression(_division,               np.divide,        "f4", 0.5,    1.0,  90.0),
    "__sinf":     Expression(_fast_sine,              _sin,             "f4", 1.0,    0.1,  3.0),
    "sinf":       Expression(_sine,                   _sin,             "f4", 2.0,    0.1,  3.0),
    "__expf":     Expression(_fast_exponential,       _exp,             "f4", 11.0,   -8.0, 8.0),
    "expf":       Expression(_exponential,            _exp,             "f4", 2.5,    -8.0, 8.0),
}
# fmt: on
