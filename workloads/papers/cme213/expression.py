"""An expression of C, again and again, from many warps: results over cycles are its throughput."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.errors import UserError
from isa.kernel import Buffer, Expectation, Kernel
from isa.operands.operand import Register
from workloads.builder import Builder, RegisterMap, at
from workloads.check import counts, fits, one_of
from workloads.microbench.probe import RESULT, SUFFIX, Geometry, probe, repeat, store_results, thread_index
from workloads.papers.cme213.expressions import EXPRESSIONS, TEMPORARIES, Expression

NAME = "expression"
OPS = tuple(EXPRESSIONS)
BY_BITS = ("shift", "mask")
STEPS = {"x": 0.6180339887498949, "y": 0.4142135623730951}  # multiples of them modulo 1 are spread evenly
SPREAD = 2654435761  # likewise modulo 2**32


@dataclass(frozen=True, slots=True)
class ArgumentFill:
    """Arguments of the threads: evenly spread between limits, or the same number; integers are below 2**31."""

    dtype: str
    low: float
    high: float
    step: float

    def __call__(self, index: NDArray[np.int64]) -> NDArray[np.generic]:
        """Return numbers of the type at the indices."""
        if self.dtype == "u4":
            return ((index * SPREAD) % (1 << 31)).astype(np.uint32)
        return (self.low + (self.high - self.low) * ((index + 1) * self.step % 1.0)).astype(self.dtype)


def expression(
    op: str = "rsqrtf", *, warps: int = 32, length: int = 32, iterations: int = 4, divisor: int = 8
) -> Kernel:
    """Build a kernel in which each thread computes an expression `length` times in each of `iterations` rounds.

    Repetitions have the same arguments, which differ from thread to thread. Integers are divided by `divisor`, from 3
    on; a shift and a mask take powers of two. Raises UserError for an unknown op and numbers too small or large.
    """
    one_of(NAME, "op", op, OPS)
    counts(NAME, 1, warps=warps, length=length, iterations=iterations)
    counts(NAME, 3, divisor=divisor)
    if op in BY_BITS and divisor & (divisor - 1):
        raise UserError(f"{NAME}: divisor={divisor} is no power of two, and op={op} takes no other")
    fits(NAME, length, length=length)
    what, geometry = EXPRESSIONS[op], Geometry(warps)
    b, registers = Builder(), RegisterMap(NAME)
    index = thread_index(b, registers)
    named = _registers(registers, what)
    _load(b, named, index, what)
    once = Builder()
    what.emit(once, named)
    repeat(b, registers, iterations, once.instructions * length)
    store_results(b, index, geometry, [named["out"]], what.words)
    fits(NAME, len(b.instructions), length=length)
    arguments = {"op": op, "warps": warps, "length": length, "iterations": iterations, "divisor": divisor}
    data = tuple(Buffer(name, what.dtype, geometry.threads, fill) for name, fill in _fills(what).items())
    kernel = probe(NAME, b, geometry, arguments, partial(_expected, op, divisor, geometry), dtype=what.dtype, data=data)
    return replace(kernel, parameters={"bits": divisor.bit_length() - 1, "mask": divisor - 1, "divisor": divisor})


def instructions(op: str) -> int:
    """Return the number of instructions of an expression."""
    b, what = Builder(), EXPRESSIONS[op]
    what.emit(b, _registers(RegisterMap(NAME), what))
    return len(b.instructions)


def arguments_of(op: str, divisor: int, threads: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the threads' x and y, as doubles or 64-bit integers."""
    what = EXPRESSIONS[op]
    kind = np.int64 if what.is_integer else np.float64
    x, y = (fill(threads).astype(kind) for fill in _fills(what).values())
    return x, np.full_like(y, divisor) if what.is_integer else y


def _registers(registers: RegisterMap, what: Expression) -> dict[str, Register]:
    """Name the registers of arguments, result and temporaries."""
    named = {name: registers.block(name, what.words, what.words)[0] for name in ("x", "y", "out")}
    return {**named, "wide": registers.block("wide", 2, 2)[0], **{name: registers.one(name) for name in TEMPORARIES}}


def _load(b: Builder, named: dict[str, Register], index: Register, what: Expression) -> None:
    """Load the thread's arguments; the divisor of integers is a constant of the launch."""
    for name in "xy":
        b.emit("IMUL", named["t0"], index, 4 * what.words)
        b.emit("IADD", named["t0"], named["t0"], name)
        b.emit("LDG" + SUFFIX[what.words], named[name], at(named["t0"]))
    if what.is_integer:
        b.emit("MOV", named["y"], "divisor")


def _fills(what: Expression) -> dict[str, ArgumentFill]:
    return {name: ArgumentFill(what.dtype, what.low, what.high, step) for name, step in STEPS.items()}


def _expected(op: str, divisor: int, geometry: Geometry, block: int) -> Expectation:
    """Return the exact value, rounded if the expression's is, and how far the result may be from it."""
    what, size = EXPRESSIONS[op], geometry.threads_per_block
    threads = np.arange(block * size, (block + 1) * size, dtype=np.int64)
    value = np.asarray(what.exact(*arguments_of(op, divisor, threads)), np.float64)
    bound = np.zeros(value.shape) if what.is_integer else what.ulps * np.spacing(np.abs(value).astype(what.dtype))
    return Expectation(RESULT, threads, value, np.asarray(bound, np.float64))
